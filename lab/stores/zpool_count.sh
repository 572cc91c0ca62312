# shellcheck shell=sh
# $1 the pool. Writes out what is left, and prints for each of its files or devices the bytes read and written since the pool was imported. ZFS
# before 2.2 counts none. A pool that is suspended would keep whoever waits for it.
health=$(zpool list -H -o health "$1") || exit
[ "$health" != SUSPENDED ] || { echo "the pool $1 is suspended" >&2; exit 1; }
zpool sync "$1" || exit
zpool get -Hp -o name,property,value read_bytes,write_bytes "$1" all-vdevs 2>/dev/null | grep -e ^/ -e "^$1/vdev-" | cut -f 2,3
