# shellcheck shell=sh
# $1 the image, which must be new, $2 its size in bytes, then the command that makes a file system in the file named last. It is sparse.
set -C
umask 077
: > "$1" && truncate -s "$2" "$1" || exit
image=$1
shift 2
exec "$@" "$image"
