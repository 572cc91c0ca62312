# shellcheck shell=sh
# After loop_disks_functions.sh. $1 the folder of files, $2 the new folder of nodes, $3 the bytes of a sector. Without read-ahead, which would
# be counted.
mkdir -m 700 "$2" || exit
for file in "$1"/vdev-*; do
    below=$(losetup --find --show --sector-size "$3" "$file") && above=$(losetup --find --show "$below") || exit
    blockdev --setra 0 "$below" || exit
    IFS=: read -r major minor < "/sys/block/${above#/dev/}/dev"
    mknod -m 600 "$2/${file##*/}" b "$major" "$minor" || exit
    is_disk "$file" "$2/${file##*/}" || { echo "$2/${file##*/} is no disk over the lab's own $file" >&2; exit 1; }
    [ "$(sectors)" = "512 $3" ] || { echo "no disk with sectors of $3 bytes that says 512, but: $(sectors)" >&2; exit 1; }
done
