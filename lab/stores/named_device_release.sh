# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After named_device_functions.sh. $1 the device, $2 its mark. Zero both ends, the mark near the start last: whenever this is interrupted, the
# device still has its mark. A device without the mark is not the lab's.
case $(device_state "$1" "$2") in
taken) look_at "$1" || exit ;;
free) exit 0 ;;
gone) echo "$1 is gone" >&2; exit 1 ;;
*) echo "$1 cannot be read" >&2; exit 1 ;;
esac
zero() { dd if=/dev/zero of="$device" bs=4096 seek="$1" count="$2" conv=nocreat,notrunc,fsync 2>/dev/null; }
zero_rest() {
    dd if=/dev/zero of="$device" oflag=seek_bytes bs=512 seek=$((blocks * 4096)) count=$((bytes % 4096 / 512)) conv=nocreat,notrunc,fsync 2>/dev/null
}
clear_ends() {
    printf '%s\n' "$1" | dd of="$device" bs=4096 seek=1 conv=nocreat,notrunc,fsync 2>/dev/null && zero $((blocks - 512)) 512 && zero_rest &&
        zero 0 1 && zero 2 510 && zero 1 1
}
# The first flush reports an earlier write that failed while the device was away
clear_ends "$2" || clear_ends "$2"
