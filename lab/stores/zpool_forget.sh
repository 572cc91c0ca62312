# shellcheck shell=sh
# After zpool_functions.sh. $1 the pool, $2 the folder of its devices, $3 the folder of the files below disks. A server may hold it for a moment.
is_own "$@" || exit
for _ in 1 2 3 4 5 6 7 8 9 10; do
    problem=$(zpool export "$1" 2>&1) && break
    sleep 1
done
[ "$(state "$@")" = absent ] || { echo "not exported: $problem" >&2; exit 1; }
zpool import -d "$2" -o cachefile=none "$1" && is_own "$@"
