# shellcheck shell=sh
# $1 the image, $2 its size in bytes, then the words that make a file system in the file whose path follows them. The file must
# not be there yet, and takes room as it fills.
set -C
umask 077
: > "$1" && truncate -s "$2" "$1" || exit
image=$1
shift 2
exec "$@" "$image"
