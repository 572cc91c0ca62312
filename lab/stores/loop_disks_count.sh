# shellcheck shell=sh
# After loop_disks_functions.sh. $1 the pool, $2 the folder of its disks, $3 the folder of the files. Flushes, and prints what each disk read
# and wrote. A suspended pool would block for ever.
health=$(zpool list -H -o health "$1") || exit
[ "$health" != SUSPENDED ] || { echo "the pool $1 is suspended" >&2; exit 1; }
zpool sync "$1" || exit
for disk in "$2"/vdev-*; do
    is_disk "$3/${disk##*/}" "$disk" || { echo "$disk is no disk over $3/${disk##*/}" >&2; exit 1; }
    count_moved || exit
done
