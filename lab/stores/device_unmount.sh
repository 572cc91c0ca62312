# shellcheck shell=sh
# shellcheck disable=SC2154  # what mount_state of device_mount_functions.sh sets
# After device_mount_functions.sh.
# $1 the folder, $2 the device, $3 the folder as the table of mounts shows it. What others mounted there stays. Of a device that is gone a
# file may be in use for ever: its mount goes all the same.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ "$(mount_state "$3" "$2")" = mounted ] || exit 0
    umount "$1" && exit
    sleep 1
done
mount_state "$3" "$2" >/dev/null
is_gone "$source" && umount -l "$1"
