# $@ programs whose versions to print; prints lines "name value".
echo "hostname $(uname -n)"
echo "kernel $(uname -r)"
# shellcheck disable=SC1091
echo "os $(. /etc/os-release 2>/dev/null; echo "$PRETTY_NAME")"
echo "cpu $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo "congestion $(cat /proc/sys/net/ipv4/tcp_congestion_control 2>/dev/null)"
echo "cores $(grep -c "^cpu[0-9]" /proc/stat)"
echo "user $(id -un)"
echo "uid $(id -u)"
echo "home $HOME"
sed -n 's/^MemTotal: *\([0-9]*\) kB/memory_kib \1/p' /proc/meminfo
# kernels before 3.14, as of an older NAS, have no MemAvailable
available=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
[ "$available" ] || available=$(awk '/^(MemFree|Buffers|Cached):/ { sum += $2 } END { print sum }' /proc/meminfo)
echo "available_kib $available"
for tool in "$@"; do
    command -v "$tool" >/dev/null && echo "tool $tool $("$tool" --version 2>/dev/null | sed -n '/./{p;q;}')"
done
echo end
