# Prints lines "governor DRIVER GOVERNOR" and "battery STATUS". A supply with scope Device belongs to a mouse or the like.
for policy in /sys/devices/system/cpu/cpufreq/policy*; do
    [ -r "$policy/scaling_governor" ] || continue
    echo "governor $(cat "$policy/scaling_driver") $(cat "$policy/scaling_governor")"
done
for supply in /sys/class/power_supply/*; do
    [ "$(cat "$supply/scope" 2>/dev/null)" = Device ] && continue
    [ "$(cat "$supply/type" 2>/dev/null)" = Battery ] && echo "battery $(cat "$supply/status")"
done
:
