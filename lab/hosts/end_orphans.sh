# shellcheck shell=sh
# A command whose connection is gone goes on by itself, and its mount may come about after everything was put back. So
# such commands are waited for a little, and then ended with their children. The outermost shell of our commands
# (wrapper in ssh.py) has that mark in front; an ssh program that sends one from this very host has it further behind.
# Where this script itself has no SSH server above it, no command has one that it could have lost. A script that has
# just ended such a server sets `lost`. On the lab's own machine the shell with its mark (local.py) is as good as a server,
# as long as its parent is the lab that the mark names. That is a number of its own process namespace: what a container here
# runs is not ours to judge.
lost=
namespace_of() { [ ! -d /proc/self ] || readlink "/proc/$1/ns/pid"; }
orphans() {
    # shellcheck disable=SC2016
    ps -A -ww -o pid= -o ppid= -o pgid= -o args= | awk -v self=$$ -v lost="$lost" -v mark='/bin/sh -c echo "file-share-lab:$$"' '
        function has_session(pid) {
            while (pid in parent) { if (server[pid]) return 1; pid = parent[pid] }
            return 0
        }
        /^ *[0-9]+ +[0-9]+ +[0-9]+ / {
            pid = $1; parent[pid] = $2; group = $3; server[pid] = $4 ~ /ssh|dropbear/
            sub(/^ *[0-9]+ +[0-9]+ +[0-9]+ +/, "")
            if (index($0, mark) == 1) ours[pid] = group
            if (index($0, "/bin/sh -c : file-share-lab-local-") == 1) server[pid] = $4 == "file-share-lab-local-" parent[pid] ";"
        }
        END { if (lost || has_session(self)) for (pid in ours) if (!has_session(pid)) print pid, ours[pid] }
    ' | while read -r pid group; do
        [ "$(namespace_of "$pid")" != "$(namespace_of self)" ] || echo "-$group"
    done
}
end_orphans() {
    began=$(date +%s)
    while groups=$(orphans) && [ -n "$groups" ]; do
        waited=$(($(date +%s) - began))
        # shellcheck disable=SC2086
        [ $waited -ge 3 ] && kill -s TERM -- $groups
        # shellcheck disable=SC2086
        [ $waited -ge 6 ] && kill -s KILL -- $groups
        [ $waited -ge 12 ] && return
        sleep 0.1
    done 2>/dev/null
}
