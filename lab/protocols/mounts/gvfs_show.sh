# shellcheck shell=sh
# Show the share of the URI $1 as a folder, by the command after it, which starts gvfsd-fuse. That may wait for ever for a
# share whose backend died meanwhile.
uri=$1
shift
timeout 30 "$@" && exit
timeout 10 gio info "$uri" 2>&1 | grep -q 'is not mounted' && why=": the process of GVfs that mounted it has died"
echo "gvfsd-fuse does not show $uri$why" >&2
exit 1
