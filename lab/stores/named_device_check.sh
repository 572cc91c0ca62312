# shellcheck shell=sh
# After named_device_functions.sh.
# $1 the device, $2 the bytes that are needed. Prints why it is not to be written to, or nothing.
if look_at "$1" 2>/dev/null; then find_reasons "$2"; else echo "it is no block device"; fi
