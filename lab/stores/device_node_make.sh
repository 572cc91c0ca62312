# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After device_node_functions.sh. $1 the node, in a folder of the lab's own in /dev, $2 the device, $3 `whole` or `partition`, $4 the mark.
look_at "$2" || exit
is_marked "$4" || { echo "$2 is not the lab's" >&2; exit 1; }
numbers_of_node=$numbers
if [ "$3" = partition ]; then
    change_partition add "$device" $((START * 512)) $(((blocks - blocks % 256) * 4096 - 2 * START * 512)) || exit
    find_part
    [ "$part" ] && numbers_of_node=$(cat "$part/dev") || exit
fi
[ -d "${1%/*}" ] || mkdir -m 700 "${1%/*}" || exit
mknod -m 600 "$1" b "${numbers_of_node%:*}" "${numbers_of_node#*:}"
