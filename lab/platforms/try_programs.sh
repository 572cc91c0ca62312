# Run programs side by side for up to $1 seconds. Each is three words: its name and two arguments, the last may be empty.
# Prints a line for each: "ended" or "hangs", and the start of its output.
end_all() {
    kill -s STOP "$1" 2>/dev/null # or it would go on making children
    # shellcheck disable=SC2046
    set -- "$1" $(ps -A -o pid= -o ppid= | awk -v parent="$1" '$2 == parent { print $1 }')
    kill -s KILL "$1" 2>/dev/null
    shift
    for child in "$@"; do end_all "$child"; done
}
some_run() {
    number=0
    while [ "$number" -lt "$count" ]; do
        number=$((number + 1))
        [ -e "$folder/$number.ended" ] || return 0
    done
    return 1
}
tenths=$(($1 * 10))
shift
folder=$(mktemp -d "${TMPDIR:-/tmp}/file-share-lab.XXXXXX") || exit
count=0
pids=
while [ $# -ge 3 ]; do
    count=$((count + 1))
    {
        "$1" "$2" ${3:+"$3"} </dev/null 2>&1 | head -c 400 >"$folder/$count"
        : >"$folder/$count.ended"
    } >/dev/null 2>&1 &
    pids="$pids $!"
    shift 3
done
while [ "$tenths" -gt 0 ] && some_run; do
    sleep 0.1
    tenths=$((tenths - 1))
done
number=0
for pid in $pids; do
    number=$((number + 1))
    state=ended
    [ -e "$folder/$number.ended" ] || { state=hangs; end_all "$pid"; }
    echo "$state $(sed -n '/./{p;q;}' "$folder/$number")"
done
rm -rf "$folder"
