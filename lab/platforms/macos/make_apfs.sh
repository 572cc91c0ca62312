# shellcheck shell=sh
# $1 the device of a RAM image; prints that of its new volume, which is on another disk that is made up. It is not
# mounted yet: diskutil would choose the place.
operation() {
    said=$(diskutil apfs "$@" 2>&1); disk=$(echo "$said" | sed -n 's/^Disk from APFS operation: *//p')
    [ -n "$disk" ] || { echo "$said" >&2; exit 1; }
}
operation createContainer "$1"
operation addVolume "$disk" APFS lab -nomount
echo "/dev/$disk"
