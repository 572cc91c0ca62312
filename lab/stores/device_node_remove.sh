# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After device_node_functions.sh. $1 the node, $2 the device, $3 `whole` or `partition`, $4 the mark. A partition may be open for a moment.
if [ "$3" = partition ] && look_at "$2" 2>/dev/null && is_marked "$4"; then
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        find_part
        [ "$part" ] || break
        change_partition remove "$device" && break
        sleep 1
    done
fi
[ ! -L "${1%/*}" ] || { echo "${1%/*} is a link" >&2; exit 1; }
[ ! -b "$1" ] || rm -f -- "$1"
rmdir -- "${1%/*}" 2>/dev/null
:
