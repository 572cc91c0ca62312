# shellcheck shell=sh
# After mac_pool_functions.sh. $1 the pool, $2 the image, $3 the mount point. A server may hold it for a moment.
is_own "$1" "$2" || exit
for _ in 1 2 3 4 5 6 7 8; do
    problem=$( (take_off "$3" 0 && zpool export "$1") 2>&1) && break
    sleep 1
done
[ "$(state "$1" "$2")" = absent ] || { echo "not exported: $problem" >&2; exit 1; }
zpool import -d /dev -o cachefile=none "$1" && is_own "$1" "$2"
