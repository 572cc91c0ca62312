# is_pid WORD: whether it is a process number, and so safe in a path and as an argument of kill and ps.
is_pid() { case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac; }
# about PID FIELD WORD: a fact about a process: on Linux a field of /proc/PID/stat, counted after the name, which may hold
# line ends and brackets; elsewhere a keyword of ps. (Linux's ps may lack -p, and its start time may be a second off.)
about() {
    is_pid "$1" || return
    if [ -d /proc/self ]; then { field_of_stat "$2" <"/proc/$1/stat"; } 2>/dev/null
    else ps -o "$3=" -p "$1"; fi
}
field_of_stat() {
    field=$1 stat=
    while read -r line; do stat="$stat $line"; done
    # shellcheck disable=SC2086  # unquoted, so that blanks part the fields
    set -- ${stat##*\) }
    shift $((field - 1)) && echo "$1"
}
# started PID: when a process started, as text that stays the same while it lives, because a number may be reused. Blanks
# are squeezed, because some ps pad the text and `read` trims it.
# shellcheck disable=SC2046,SC2005
started() { echo $(about "$1" 20 lstart); }
# runs PID: whether it runs. A zombie does not; the first process of a container may never reap one.
runs() { state=$(about "$1" 1 stat); [ -n "$state" ] && [ "${state#Z}" = "$state" ]; }
# is_alive PID START: whether the process with this number and start still runs.
is_alive() { runs "$1" && [ "$(started "$1")" = "$2" ]; }
