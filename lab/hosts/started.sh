# shellcheck shell=sh
# is_pid WORD: whether it can be the number of a process, and so no other part of a path or of the words of kill and ps.
is_pid() { case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac; }
# about PID FIELD WORD: something about a process. That field of what Linux's kernel says after its name, or that word
# of ps elsewhere. (Linux's ps may lack -p on small systems, and works the start out from the clock, a second off now
# and then.) A name may have line ends in it, and brackets.
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
# started PID: when a process started, as text that stays the same as long as it lives; a pid alone may have gone to
# another one. Only single blanks are left in it, for some ps pad it, and `read` cuts the ends off.
# shellcheck disable=SC2046,SC2005
started() { echo $(about "$1" 20 lstart); }
