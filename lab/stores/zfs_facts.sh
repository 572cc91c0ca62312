# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After loop_disks_functions.sh and named_device_functions.sh. $2 the pool. Prints its devices after a tab, their ashift (ZFS before 2.2: only
# the pool's), and the pool's properties; for a 512e disk its reported and real sector bytes; for a named device or partition, where its
# mark is.
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
