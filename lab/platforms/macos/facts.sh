# shellcheck shell=sh
# $@ programs whose versions are told; prints lines "name value".
echo "hostname $(hostname)"
echo "kernel $(uname -r)"
echo "user $(id -un)"
echo "uid $(id -u)"
echo "home $HOME"
for tool in "$@"; do
    command -v "$tool" >/dev/null && echo "tool $tool $("$tool" --version 2>/dev/null | sed -n '/./{p;q;}')"
done
echo end
