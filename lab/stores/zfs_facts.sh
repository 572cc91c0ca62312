# shellcheck shell=sh
# After loop_disks_functions.sh.
# $2 the pool: its devices, with a tab in front; the sectors of each, which ZFS before 2.2 tells of the pool only; its properties. Of
# a disk that stands in for another, the bytes of a sector as it says and as it has them.
devices=$(zpool list -HvP "$2") && printf '%s\n' "$devices" || exit
printf '%s\n' "$devices" | cut -f 2 | while IFS= read -r device; do
    ! look_below "$device" || printf '%s\tsectors\t%s\n' "$device" "$(sectors)"
done
zpool get -Hp -o name,property,value ashift "$2" all-vdevs 2>/dev/null || zpool get -Hp -o name,property,value ashift "$2" || exit
zfs get -Hp -o name,property,value sync,compression,recordsize,atime "$2" && echo "version $(cat /sys/module/zfs/version)"
