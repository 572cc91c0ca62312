# shellcheck shell=sh
# After started.sh.
# runs PID: a zombie does not run: its parent has yet to look, and the first process of a container may never do so.
runs() { state=$(about "$1" 1 stat); [ -n "$state" ] && [ "${state#Z}" = "$state" ]; }
# is_alive PID START: whether the process that started then still runs.
is_alive() { runs "$1" && [ "$(started "$1")" = "$2" ]; }
