# shellcheck shell=sh
# $1 the new folder, $2 the bytes of each file, $3 how many. The files are sparse.
set -C
umask 077
mkdir "$1" || exit
number=1
while [ "$number" -le "$3" ]; do
    : > "$1/vdev-$number" && truncate -s "$2" "$1/vdev-$number" || exit
    number=$((number + 1))
done
