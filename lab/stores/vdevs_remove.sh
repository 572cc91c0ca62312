# shellcheck shell=sh
# $1 the folder. A link in its place stays, and so does a folder with other files.
[ ! -L "$1" ] || { echo "$1 is a link" >&2; exit 1; }
rm -f -- "$1"/vdev-* && rmdir -- "$1"
