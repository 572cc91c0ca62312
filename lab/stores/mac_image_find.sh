# shellcheck shell=sh
# `attached` is what hdiutil printed, a device first. $1 the image, $2 the mount point of its volume.
# shellcheck disable=SC2154 # set by the lines before this file
[ "$(image state "$1" "$2")" != attached ] || exit 0
hdiutil detach "$(printf '%s\n' "$attached" | sed -n '1s/[[:space:]].*//p')"
echo "hdiutil lists no image $1 of this account" >&2
exit 1
