# shellcheck shell=sh
# After image_functions.sh. $1 the folder, $2 the image, $3 the folder in the mount table, $4 the file system, $5 mount options, $6 the owner.
# mount makes the loop, which ends with the mount. Nothing is written before the loop proves to be over just that file.
mount -t "$4" -o "loop,$5" "$2" "$1" || exit
[ "$(state "$3" "$2")" = mounted ] || { echo "what is mounted at $1 is not the lab's own $2: $(state "$3" "$2")" >&2; exit 1; }
chown "$6" "$1" && chmod 1777 "$1"
