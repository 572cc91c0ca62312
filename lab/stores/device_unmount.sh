# shellcheck shell=sh
# After device_mount_functions.sh.
# $1 the folder, $2 the device, $3 the folder as the table of mounts shows it. What others mounted there stays.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ "$(mount_state "$3" "$2")" = mounted ] || exit 0
    umount "$1" && exit
    sleep 1
done
exit 1
