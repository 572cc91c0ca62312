# shellcheck shell=sh
# Unload the kernel module $1, which something may hold for a moment. A module in use stays.
for _ in 1 2 3 4 5; do
    modprobe -r "$1" 2>/dev/null
    [ -e "/sys/module/$1" ] || exit 0
    sleep 1
done
