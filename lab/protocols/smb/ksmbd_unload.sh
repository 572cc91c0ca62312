# Stop ksmbd and unload it. Without mountd the kernel serves on until it is told to stop. Connections end within 7 s, and
# an ending thread may hold the module for a moment longer.
[ -d /sys/module/ksmbd ] || exit 0
echo hard >/sys/class/ksmbd-control/kill_server || exit
tries=0
until modprobe -r ksmbd; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || exit 1
    sleep 0.1
done
