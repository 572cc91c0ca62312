# any_of GROUP: whether any process of a group runs; zombies do not count. If ps fails, the answer is yes.
any_of() {
    kill -s 0 -- "-$1" 2>/dev/null || return 1
    rows=$(ps -A -o pgid= -o stat=) || return 0
    echo "$rows" | grep -q "^ *$1  *[^Z ]"
}
