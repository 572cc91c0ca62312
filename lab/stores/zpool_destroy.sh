# shellcheck shell=sh
# After zpool_functions.sh.
# $1 the pool, $2 the folder of its devices, $3 that of the files below where these are disks. A pool that is
# suspended can end once its files can be written again. Others' stays.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    case $(state "$@") in imported) ;; suspended) zpool clear "$1" ;; *) exit 0 ;; esac
    zpool destroy "$1" && exit
    sleep 1
done
exit 1
