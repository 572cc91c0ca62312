# shellcheck shell=sh
# After image_functions.sh.
# $1 the folder, $2 the image, $3 the folder as the table of mounts shows it, $4 the file system, $5 the options of its mount,
# $6 whose it becomes. mount makes the loop, which ends with the mount, however that ends. All may write there, as into a RAM
# disk; nothing is written before the loop proves to be over just that file.
mount -t "$4" -o "loop,$5" "$2" "$1" || exit
[ "$(state "$3" "$2")" = mounted ] || { echo "what is mounted at $1 is not the lab's own $2: $(state "$3" "$2")" >&2; exit 1; }
chown "$6" "$1" && chmod 1777 "$1"
