# shellcheck shell=sh
# any_of GROUP: whether anything of a process group runs; zombies do not. A ps that cannot tell proves nothing.
any_of() {
    kill -s 0 -- "-$1" 2>/dev/null || return 1
    rows=$(ps -A -o pgid= -o stat=) || return 0
    echo "$rows" | grep -q "^ *$1  *[^Z ]"
}
