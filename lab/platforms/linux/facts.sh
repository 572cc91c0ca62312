# $@ programs whose versions to print; prints lines "name value".
echo "hostname $(uname -n)"
echo "kernel $(uname -r)"
# a NAS may have no os-release, or that of the Debian below it
# shellcheck disable=SC1091,SC2154
os() {
    if [ -e /etc.defaults/VERSION ]; then . /etc.defaults/VERSION && echo "Synology DSM $productversion"
    elif [ -e /etc/default_config/uLinux.conf ]; then sed -n 's/^Version *= */QNAP QTS /p' /etc/default_config/uLinux.conf
    elif command -v midclt >&2; then echo "TrueNAS $(sed 's/^TrueNAS-*//' /etc/version)"
    elif [ -e /etc/os-release ]; then . /etc/os-release && echo "$PRETTY_NAME"; fi
}
echo "os $(os 2>/dev/null)"
echo "cpu $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo "congestion $(cat /proc/sys/net/ipv4/tcp_congestion_control 2>/dev/null)"
echo "cores $(grep -c "^cpu[0-9]" /proc/stat)"
echo "user $(id -un)"
echo "uid $(id -u)"
echo "home $HOME"
sed -n 's/^MemTotal: *\([0-9]*\) kB/memory_kib \1/p' /proc/meminfo
# kernels before 3.14, as of an older NAS, have no MemAvailable
available=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
[ "$available" ] || while read -r name kib rest; do
    case $name in MemFree: | Buffers: | Cached:) available=$((available + kib)) ;; esac
done </proc/meminfo
echo "available_kib $available"
for tool in "$@"; do
    command -v "$tool" >/dev/null && echo "tool $tool $("$tool" --version 2>/dev/null | sed -n '/./{p;q;}')"
done
echo end
