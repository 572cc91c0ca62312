# shellcheck shell=sh
# A named device is the lab's while it has a mark: the name of the lab's folder, 4 KiB after its start and 1 MiB before its end. A file system
# leaves the end alone. A pool leaves the mark at the start: zpool clears 4 KiB, and not the next 4 KiB (zfs_vdev.c, vdev_impl.h).

# Set `device`, the node of $1 without links, `sys`, its place in /sys, and `blocks` of 4096 bytes. Fails for no block device, and for one that
# is gone: the kernel has lost it, or reports no bytes while somebody has it open.
look_at() {
    device=$(readlink -f -- "$1") && [ -b "$device" ] || { echo "$1 is no block device" >&2; return 1; }
    numbers=$(stat -c '0x%t:0x%T' "$device") && numbers=$((${numbers%:*})):$((${numbers#*:}))
    sys=/sys/dev/block/$numbers units=0
    { read -r units < "$sys/size"; } 2>/dev/null
    [ "$units" != 0 ] || { echo "$1 is gone" >&2; return 1; }
    bytes=$((units * 512)) blocks=$((units / 8))
}

# The text at block $2 of a device; a byte that no mark has becomes a dot. `unreadable` if it cannot be read.
mark_at() {
    { dd if="$1" bs=4096 skip="$2" count=1 2>/dev/null || echo unreadable; } | head -c 31 | tr -c 'a-z0-9-' . | sed 's/\.*$//'
}

# Whether the device of look_at has the mark $1.
is_marked() { [ "$(mark_at "$device" 1)" = "$1" ] || [ "$(mark_at "$device" $((blocks - 256)))" = "$1" ]; }

# `taken` if the device $1 has the mark $2, else `free`, or `gone` or `unreadable`.
device_state() {
    if ! look_at "$1" 2>/dev/null; then
        if [ -b "$1" ] || [ ! -e "$1" ]; then echo gone; else echo "no block device"; fi
        return
    fi
    case $(mark_at "$device" 1)/$(mark_at "$device" $((blocks - 256))) in
    "$2"/* | */"$2") echo taken ;;
    unreadable/* | */unreadable) echo unreadable ;;
    *) echo free ;;
    esac
}

# A line for each reason not to write to the device of look_at; $1 the bytes that are needed.
find_reasons() {
    if ! command -v wipefs >/dev/null || ! command -v cmp >/dev/null; then
        echo "nobody can tell what it holds: wipefs (util-linux) or cmp (diffutils) is not there"
        return
    fi
    [ "$bytes" -ge "$1" ] || echo "it has $bytes bytes, and $1 are needed"
    [ "$(cat "$sys/ro")" = 0 ] || echo "it is read-only"
    for holder in "$sys"/holders/*; do
        [ ! -e "$holder" ] || echo "it is part of ${holder##*/}"
    done
    for partition in "$sys"/*/partition; do
        [ ! -e "$partition" ] || { echo "it has partitions"; break; }
    done
    [ -z "$(awk -v numbers="$numbers" '$3 == numbers' /proc/self/mountinfo)" ] || echo "it is mounted"
    while read -r swap _; do
        [ ! -b "$swap" ] || [ "$(readlink -f -- "$swap")" != "$device" ] || echo "it is swap"
    done < /proc/swaps
    # wipefs opens the device exclusively (O_EXCL), and lists all content that it knows
    found=$(wipefs --all --no-act "$device" 2>&1) || { echo "it is in use: ${found##*: }"; return; }
    [ -z "$found" ] || { echo "it holds data: $(printf '%s\n' "$found" | sed -n '1s/.*(\(.*\)).*/\1/p')"; return; }
    case $(mark_at "$device" 1)$(mark_at "$device" $((blocks - 256))) in
    *file-share-lab-*) echo "it has the mark of a run of the lab that has not given it back" ;;
    *) cmp -s -n "$ENDS" "$device" /dev/zero && cmp -s -n "$ENDS" -i $((bytes - ENDS)):0 "$device" /dev/zero ||
        echo "it holds data: its first and last 2 MiB are not all zeros" ;;
    esac
}
ENDS=2097152
