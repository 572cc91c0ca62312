# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After named_device_functions.sh. Print the first device that is gone or cannot be read; the kernel's cache proves nothing.
fault_of_devices() {
    for named; do
        if ! look_at "$named" 2>/dev/null; then echo "the device $named is gone"; return
        elif ! dd if="$device" iflag=direct bs=4096 count=1 >/dev/null 2>&1; then echo "the device $named cannot be read"; return
        fi
    done
}
