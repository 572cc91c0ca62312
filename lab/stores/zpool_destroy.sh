# shellcheck shell=sh
# After zpool_functions.sh. $1 the pool, $2 the folder of its devices, $3 the folder of the files below disks. A suspended pool can end once
# its devices can be written again. Other pools stay.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    if has_lost "$1"; then in_time zpool reopen "$1"; fi
    case $(state "$@") in
    imported) ;;
    suspended) in_time zpool clear "$1"; [ $? != 124 ] || exit 1 ;;
    *) exit 0 ;;
    esac
    in_time zpool destroy "$1" && exit
    [ $? != 124 ] || exit 1
    sleep 1
done
exit 1
