# $1 the device of an image, $2 diskutil's kind of volume; prints the device of the new volume, which is on a synthesized
# disk. The volume is not mounted yet, because diskutil would choose the place.
operation() {
    output=$(diskutil apfs "$@" 2>&1); disk=$(echo "$output" | sed -n 's/^Disk from APFS operation: *//p')
    [ -n "$disk" ] || { echo "$output" >&2; exit 1; }
}
operation createContainer "$1"
operation addVolume "$disk" "$2" lab -nomount
echo "/dev/$disk"
