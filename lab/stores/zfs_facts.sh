# shellcheck shell=sh
# $2 the pool: its devices, with a tab in front; the sectors of each, which ZFS before 2.2 tells of the pool only; its properties.
zpool list -HvP "$2" || exit
zpool get -Hp -o name,property,value ashift "$2" all-vdevs 2>/dev/null || zpool get -Hp -o name,property,value ashift "$2" || exit
zfs get -Hp -o name,property,value sync,compression,recordsize,atime "$2" && echo "version $(cat /sys/module/zfs/version)"
