# shellcheck shell=sh
# After zpool_functions.sh and named_device_fault.sh.
# $1 the pool, then the devices that it is on, of the user's. A pool on one that is gone is told to look at it again, see has_lost, or it
# would keep all processors busy. What the kernel says of a pool by itself needs none of the locks that a command may hold for ever.
pool=$1
shift
gone=$(fault_of_devices "$@")
[ -z "$gone" ] || in_time zpool reopen "$pool"
health=$(cat "/proc/spl/kstat/zfs/$pool/state" 2>/dev/null) || health=$(zpool list -H -o health "$pool") || exit
if [ "$health" = ONLINE ]; then echo "$gone"; else echo "${gone:+$gone; }the pool $pool is $health"; fi
