# $@ programs whose versions to print, as NAME or NAME:OTHER_NAME; prints lines "name value".
echo "hostname $(hostname)"
echo "kernel $(uname -r)"
echo "user $(id -un)"
echo "uid $(id -u)"
echo "home $HOME"
for tool in "$@"; do
    for name in "${tool%:*}" "${tool#*:}"; do
        command -v "$name" >/dev/null || continue
        echo "tool ${tool%:*} $("$name" --version 2>/dev/null | sed -n '/./{p;q;}')"
        break
    done
done
echo end
