# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After named_device_functions.sh.
# $1 the device, $2 its mark. Both ends become zeros, as they were, the mark near the start last: whatever ends this, the mark says whose
# it is. One without the mark is somebody else's.
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
# whoever flushes first is told of a write that failed before, while the device was away
clear_ends "$2" || clear_ends "$2"
