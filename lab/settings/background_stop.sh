# shellcheck disable=SC3067  # every shell knows -O, if not POSIX
# After is_alive.sh and any_of.sh.
# End the process group in the file $1 with TERM, with KILL after 2 s; give up after 5 s. Do nothing if the file is not this
# account's, or the number belongs to another process by now. A leader may have ended: its number stays taken as long as
# the group has processes. Sessions of an sshd have groups of their own, and a stopped one outlives the sshd. So all
# descendants of the leader are killed at the end.
{ read -r pid && read -r start; } 2>/dev/null <"$1" || exit 0
{ [ -O "$1" ] && is_pid "$pid"; } || { echo "$1 was not written by this account" >&2; exit 1; }
descendants() {
    is_alive "$pid" "$start" || return
    ps -A -o pid= -o ppid= | awk -v top="$pid" '
        { parent[$1] = $2 }
        END { for (pid in parent) { for (p = parent[pid]; p > 1 && p != top; ) p = parent[p]; if (p == top) print pid } }
    ' | while read -r child; do echo "$child $(started "$child")"; done
}
children=$(descendants)
tries=0
while is_alive "$pid" "$start" || { ! runs "$pid" && any_of "$pid"; }; do
    tries=$((tries + 1))
    [ $tries -eq 1 ] && kill -s TERM -- "-$pid" 2>/dev/null
    [ $tries -eq 200 ] && kill -s KILL -- "-$pid"
    [ $tries -gt 500 ] && exit 1
    sleep 0.01
done
echo "$children" | while read -r child began; do
    if is_alive "$child" "$began"; then kill -s KILL "$child"; fi
done
rm -f "$1"
