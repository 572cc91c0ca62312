# shellcheck shell=sh
# After named_device_functions.sh. $1 the device, $2 the bytes that are needed. Prints why it cannot be taken, or nothing.
if look_at "$1" 2>/dev/null; then find_reasons "$2"
elif [ -b "$1" ]; then echo "it has no bytes: it was removed, or has no medium"
elif [ -e "$1" ]; then echo "it is no block device"
else echo "it is not there"
fi
