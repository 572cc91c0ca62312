# shellcheck shell=sh
# $1 a mount point whose transfer failed. Exits 0 where the mount is gone, or only its place in the table is left.
# GVfs takes a moment to notice that the process which served a mount has died; until then other errors come
tries=0
while [ $tries -lt 20 ]; do
    case $(ls -d "$1" 2>&1) in
    *"No such file"* | *"not connected"*) exit 0 ;;
    esac
    tries=$((tries + 1))
    sleep 0.1
done
exit 1
