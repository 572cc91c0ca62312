# shellcheck shell=sh
# After zpool_functions.sh and named_device_fault.sh. $1 the pool, then the user's devices below it. If one is gone, the pool is told to look
# again (see has_lost), or it would keep all processors busy. The kernel's own state needs no lock that a command may hold for ever.
pool=$1
shift
gone=$(fault_of_devices "$@")
[ -z "$gone" ] || in_time zpool reopen "$pool"
health=$(cat "/proc/spl/kstat/zfs/$pool/state" 2>/dev/null) || health=$(zpool list -H -o health "$pool") || exit
if [ "$health" = ONLINE ]; then echo "$gone"; else echo "${gone:+$gone; }the pool $pool is $health"; fi
