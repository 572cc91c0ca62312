# shellcheck shell=sh
# After named_device_fault.sh.
# $1 the pool, then the devices that it is on, of the user's. What the kernel says of a pool by itself needs none of the locks that a command
# may hold for ever which waits for a device that is gone.
pool=$1
shift
gone=$(fault_of_devices "$@")
health=$(cat "/proc/spl/kstat/zfs/$pool/state" 2>/dev/null) || health=$(zpool list -H -o health "$pool") || exit
if [ "$health" = ONLINE ]; then echo "$gone"; else echo "${gone:+$gone; }the pool $pool is $health"; fi
