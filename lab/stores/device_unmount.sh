# shellcheck shell=sh
# shellcheck disable=SC2154  # what mount_state of device_mount_functions.sh sets
# After device_mount_functions.sh. $1 the folder, $2 the device, $3 the folder in the mount table. Other mounts there stay. A device that is
# gone may have a file in use for ever, so it is unmounted lazily.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ "$(mount_state "$3" "$2")" = mounted ] || exit 0
    umount "$1" && exit
    sleep 1
done
mount_state "$3" "$2" >/dev/null
is_gone "$source" && umount -l "$1"
