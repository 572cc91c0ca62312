# $@ programs whose versions to print; prints lines "name value".
echo "hostname $(hostname)"
echo "kernel $(uname -r)"
# shellcheck disable=SC1091
echo "os $(. /etc/os-release 2>/dev/null; echo "$PRETTY_NAME")"
echo "cpu $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo "congestion $(cat /proc/sys/net/ipv4/tcp_congestion_control 2>/dev/null)"
echo "cores $(getconf _NPROCESSORS_ONLN)"
echo "user $(id -un)"
echo "uid $(id -u)"
echo "home $HOME"
sed -n 's/^MemTotal: *\([0-9]*\) kB/memory_kib \1/p; s/^MemAvailable: *\([0-9]*\) kB/available_kib \1/p' /proc/meminfo
for tool in "$@"; do
    command -v "$tool" >/dev/null && echo "tool $tool $("$tool" --version 2>/dev/null | sed -n '/./{p;q;}')"
done
echo end
