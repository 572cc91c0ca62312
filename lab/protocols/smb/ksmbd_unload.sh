# shellcheck shell=sh
# Stop ksmbd and unload it. The kernel serves on without mountd until it is told to stop; a connection that is still there
# ends within 7 s. A thread that just ends may hold the module for a moment longer.
[ -d /sys/module/ksmbd ] || exit 0
echo hard >/sys/class/ksmbd-control/kill_server || exit
tries=0
until modprobe -r ksmbd; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || exit 1
    sleep 0.1
done
