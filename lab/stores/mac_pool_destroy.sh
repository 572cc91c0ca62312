# shellcheck shell=sh
# After mac_pool_functions.sh. $1 the pool, $2 the image, $3 the mount point. Other pools stay.
for try in 1 2 3 4 5 6 7 8; do
    [ "$(state "$1" "$2")" = imported ] || exit 0
    take_off "$3" "$try" && zpool destroy "$1" && exit
    sleep 1
done
exit 1
