# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After device_mount_functions.sh. $1 the folder, $2 the device, $3 the folder in the mount table, $4 the device's mark, $5 the file system,
# $6 mount options, $7 the owner, then the command that makes the file system. All may write there, as on a RAM disk.
folder=$1 in_table=$3 kind=$5 options=$6 account=$7
look_at "$2" || exit
is_marked "$4" || { echo "$2 is not the lab's" >&2; exit 1; }
shift 7
"$@" && mount -t "$kind" -o "$options" "$device" "$folder" || exit
[ "$(mount_state "$in_table" "$device")" = mounted ] || { echo "what is mounted at $folder is not $device" >&2; exit 1; }
chown "$account" "$folder" && chmod 1777 "$folder"
