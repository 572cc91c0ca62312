# shellcheck shell=sh
# $@ programs whose versions are told; prints lines "name value".
echo "hostname $(hostname)"
echo "kernel $(uname -r)"
echo "user $(id -un)"
echo "uid $(id -u)"
echo "home $HOME"
for tool in "$@"; do
    name=$tool
    [ "$tool" != iperf3 ] || command -v iperf3 >/dev/null || name=iperf3-darwin
    command -v "$name" >/dev/null && echo "tool $tool $("$name" --version 2>/dev/null | sed -n '/./{p;q;}')"
done
echo end
