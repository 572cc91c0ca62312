# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After named_device_functions.sh. $2 the device of a file system: a loop over the lab's image, or a named device, whose mark is at its end.
device=$2
case $(cat "/sys/block/${2##*/}/loop/backing_file" 2>/dev/null) in
*/file-share-lab-*/store.image) echo "disk image" ;;
*)
    look_at "$2" || exit
    case $(mark_at "$device" $((blocks - 256))) in file-share-lab-*) echo "disk named" ;; *) echo "disk unknown" ;; esac
    ;;
esac
