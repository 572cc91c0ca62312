# After account_of.sh and the function signal.
# Commands go on after their connection is lost, and may mount something after everything was put back. So this waits for
# such orphans for a little, then ends them with their children. A command's outermost shell (WRAPPER of ssh.py) begins
# with the mark; an ssh that sends a command from this very host has the mark later in its words. A session is a process
# of an SSH server, or on the lab's own machine a shell with its own mark (local.py) whose parent is the lab. Without a
# session above this script, no command counts as an orphan, unless a script sets `lost` after ending such a server. The
# mark of local.py names a process of one process namespace: processes of containers are left alone.
#
# Anybody can start a process with such words. So the shell and the leader of its group must belong to the account or to
# root; a leader of root's must have the mark in its words. Nobody else may have a process in the group: groups of daemons
# and set-uid programs are left alone. (ps prints no line ends in words.)
lost=
namespace_of() { [ ! -d /proc/self ] || readlink "/proc/$1/ns/pid"; }
orphans() {
    # shellcheck disable=SC2016,SC2154  # narrow is of account_of.sh
    ps -A -ww -o pid= -o ppid= -o pgid= -o ruid= -o uid= -o args= | awk -v self=$$ -v lost="$lost" \
        -v accounts=" ${narrow:-$(id -u) $SUDO_UID} " -v mark='echo "file-share-lab:$$"' '
        function has_session(pid) {
            while (pid in parent) { if (server[pid]) return 1; pid = parent[pid] }
            return 0
        }
        function is_ours(pid) { return index(accounts, " " account[pid] " ") }
        function is_our_group(pid) { return !(pid in strange) && is_ours(pid) && (account[pid] != 0 || marked[pid]) }
        /^ *[0-9]+ +[0-9]+ +[0-9]+ +-?[0-9]+ +-?[0-9]+ / {
            pid = $1; parent[pid] = $2; group[pid] = $3; account[pid] = $4 == $5 ? $4 : "two"
            for (field = 4; field < 6; field++) if ($field != 0 && !index(accounts, " " $field " ")) strange[$3]
            server[pid] = $6 ~ /ssh|dropbear/
            sub(/^ *[0-9]+ +[0-9]+ +[0-9]+ +-?[0-9]+ +-?[0-9]+ +/, "")
            marked[pid] = index($0, mark)
            if (marked[pid] && index($0, "/bin/sh -c " mark) == 1 && is_ours(pid)) ours[pid]
            if (index($0, "/bin/sh -c : file-share-lab-local-") == 1) server[pid] = $4 == "file-share-lab-local-" parent[pid] ";"
        }
        END {
            if (lost || has_session(self))
                for (pid in ours) if (!has_session(pid) && is_our_group(group[pid])) print pid, group[pid]
        }
    ' | while read -r pid group; do
        [ "$(namespace_of "$pid")" != "$(namespace_of self)" ] || echo "$group"
    done
}
# Counts its own pauses, because a clock may be set meanwhile.
end_orphans() {
    tries=0
    while groups=$(orphans) && [ -n "$groups" ]; do
        waited=$((tries / 5))
        for group in $groups; do
            [ $waited -ge 3 ] && signal "${narrow:-$(id -u)}" TERM "-$group"
            [ $waited -ge 6 ] && signal "${narrow:-$(id -u)}" KILL "-$group"
        done
        [ $waited -ge 12 ] && return
        tries=$((tries + 1))
        sleep 0.2
    done 2>/dev/null
}
