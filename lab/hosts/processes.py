"""Shell functions that tell one process of a host from every other, before and after it."""

# Something about the process $1: field $2 of what Linux's kernel says after its name, or the word $3 of ps elsewhere.
# (Linux's ps may lack -p on small systems, and works the start out from the clock, a second off now and then.)
# When a process started is text that stays the same as long as it lives; a pid alone may have gone to another one. In
# it are single blanks only, for some ps pad it, and `read` cuts the ends off.
STARTED = r"""
about() {
    if [ -d /proc/self ]; then sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f "$2"
    else ps -o "$3=" -p "$1"; fi
}
started() { echo $(about "$1" 20 lstart); }
"""
# Whether the process $1 that started at $2 still runs. A zombie does not: its parent has yet to look, and the first
# process of a container may never do so.
IS_ALIVE = (
    STARTED
    + """
runs() { state=$(about "$1" 1 stat); [ -n "$state" ] && [ "${state#Z}" = "$state" ]; }
is_alive() { runs "$1" && [ "$(started "$1")" = "$2" ]; }
"""
)
# The nearest ancestor that is an SSH server's: it ends with the connection, however that ends.
SSH_SESSION = """
name_of() { if [ -d /proc/self ]; then cat "/proc/$1/comm"; else ps -o comm= -p "$1"; fi; }
ssh_session() {
    pid=$$
    while pid=$(about "$pid" 2 ppid); pid=${pid##* }; [ "${pid:-0}" -gt 1 ]; do
        case $(name_of "$pid") in *ssh*|*dropbear*) echo "$pid $(started "$pid")"; return ;; esac
    done
    echo "0 unknown"
}
"""
# Whether anything of a process group runs; zombies again do not.
ANY_OF = """
any_of() {
    kill -s 0 -- "-$1" 2>/dev/null || return 1
    rows=$(ps -A -o pgid= -o stat=) || return 0  # a ps that cannot tell proves nothing
    echo "$rows" | grep -q "^ *$1  *[^Z ]"
}
"""
# A command whose connection is gone goes on by itself, and its mount may come about after everything was put back. So
# such ones are waited for a little, and then ended with their children. The outermost shell of our commands
# (lab/hosts/ssh.py) has that mark in front; an ssh program that sends one from this very host has it further behind.
# Where this script itself has no SSH server above it, no command has one that it could have lost.
END_ORPHANS = r"""
orphans() {
    ps -A -ww -o pid= -o ppid= -o pgid= -o args= | awk -v self=$$ -v mark='/bin/sh -c echo "file-share-lab:$$"' '
        function has_session(pid) {
            while (pid in parent) { if (server[pid]) return 1; pid = parent[pid] }
            return 0
        }
        /^ *[0-9]+ +[0-9]+ +[0-9]+ / {
            pid = $1; parent[pid] = $2; group = $3; server[pid] = $4 ~ /ssh|dropbear/
            sub(/^ *[0-9]+ +[0-9]+ +[0-9]+ +/, "")
            if (index($0, mark) == 1) ours[pid] = group
        }
        END { if (has_session(self)) for (pid in ours) if (!has_session(pid)) print "-" ours[pid] }
    '
}
end_orphans() {
    began=$(date +%s)
    while groups=$(orphans) && [ -n "$groups" ]; do
        waited=$(($(date +%s) - began))
        [ $waited -ge 3 ] && kill -s TERM -- $groups
        [ $waited -ge 6 ] && kill -s KILL -- $groups
        [ $waited -ge 12 ] && return
        sleep 0.1
    done 2>/dev/null
}
"""
