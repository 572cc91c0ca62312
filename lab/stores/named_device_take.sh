# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After named_device_functions.sh. $1 the device, $2 its mark, $3 the bytes that are needed.
look_at "$1" || exit
reasons=$(find_reasons "$3") || exit
[ -z "$reasons" ] || { printf '%s is left alone: %s\n' "$1" "$reasons" >&2; exit 1; }
for block in 1 $((blocks - 256)); do
    printf '%s\n' "$2" | dd of="$device" bs=4096 seek="$block" conv=nocreat,notrunc,fsync 2>/dev/null || exit
done
