# shellcheck shell=sh
# After account_of.sh and the function signal.
# A command whose connection is gone goes on by itself, and its mount may come about after everything was put back. So
# such commands are waited for a little, and then ended with their children. The outermost shell of our commands
# (wrapper in ssh.py) has that mark in front; an ssh program that sends one from this very host has it further behind.
# Where this script itself has no SSH server above it, no command has one that it could have lost. A script that has
# just ended such a server sets `lost`. On the lab's own machine the shell with its mark (local.py) is as good as a server,
# as long as its parent is the lab that the mark names. That is a number of its own process namespace: what a container here
# runs is not ours to judge.
#
# Anybody can have such words. So the shell must be the account's, or root's, and so must be the leader of its group; one of
# root's has the mark somewhere in its words, or it is no login shell of a command. Nobody else may have a process in the group: a
# daemon's workers, and what a set-uid program runs, are in groups of others. (ps writes no line end of anybody's words.)
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
# Time is counted by waiting: a clock may be set meanwhile.
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
