# shellcheck shell=sh
# After image_functions.sh. $1 the folder, $2 the image, $3 the folder in the mount table. Other mounts there stay. No lazy unmount: a busy
# file system would keep its loop without being in the table. A loop that ends with its mount is left alone: its number may be reused.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    look "$3" "$2"
    [ "$device" ] || exit
    if [ "$source" ]; then
        [ "$source" = "$device" ] || exit
        umount "$1"
    elif [ "$(cat "/sys/block/${device##*/}/loop/autoclear")" = 0 ]; then losetup -d "$device"; fi
    [ "$(state "$3" "$2")" != absent ] || exit
    sleep 1
done
