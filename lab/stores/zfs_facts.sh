# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After loop_disks_functions.sh and named_device_functions.sh.
# $2 the pool: its devices, with a tab in front; the sectors of each, which ZFS before 2.2 tells of the pool only; its properties. Of
# a disk that stands in for another, the bytes of a sector as it says and as it has them; of one that the user named, or its partition,
# where it has its mark.
which_disks() {
    if look_at "$1" && [ "$(mark_at "$device" 1)" = "$2" ]; then echo named; return; fi
    whole=$(readlink -f "$sys/..")
    if [ -e "$whole/dev" ] && look_at "/dev/${whole##*/}" && is_marked "$2"; then echo partitions; else echo unknown; fi
}
devices=$(zpool list -HvP "$2") && printf '%s\n' "$devices" || exit
printf '%s\n' "$devices" | cut -f 2 | while IFS= read -r vdev; do
    if look_below "$vdev"; then printf '%s\tsectors\t%s\n' "$vdev" "$(sectors)"
    elif [ -b "$vdev" ]; then printf '%s\tdisks\t%s\n' "$vdev" "$(which_disks "$vdev" "$2")"
    fi
done
zpool get -Hp -o name,property,value ashift "$2" all-vdevs 2>/dev/null || zpool get -Hp -o name,property,value ashift "$2" || exit
zfs get -Hp -o name,property,value sync,compression,recordsize,atime "$2" && echo "version $(cat /sys/module/zfs/version)"
