# shellcheck shell=sh
# $1 the pool. Flushes, and prints the bytes that each file or device read and wrote since the import. ZFS before 2.2 counts none. A suspended
# pool would block for ever.
health=$(zpool list -H -o health "$1") || exit
[ "$health" != SUSPENDED ] || { echo "the pool $1 is suspended" >&2; exit 1; }
zpool sync "$1" || exit
zpool get -Hp -o name,property,value read_bytes,write_bytes "$1" all-vdevs 2>/dev/null | grep -e ^/ -e "^$1/vdev-" | cut -f 2,3
