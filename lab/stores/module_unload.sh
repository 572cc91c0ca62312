# shellcheck shell=sh
# Unload the module $1 of the kernel, once whoever looks at a new device of it has closed that; it stays where it is in use.
for _ in 1 2 3 4 5; do
    modprobe -r "$1" 2>/dev/null
    [ -e "/sys/module/$1" ] || exit 0
    sleep 1
done
