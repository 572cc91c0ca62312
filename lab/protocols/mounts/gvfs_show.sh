# Show the share of the URI $1 as a folder, by the command after it, which starts gvfsd-fuse. That command may wait forever
# for a share whose backend has died.
uri=$1
shift
output=$(timeout 30 "$@" 2>&1) && exit
timeout 10 gio info "$uri" 2>&1 | grep -q 'is not mounted' && why=": the process of GVfs that mounted it has died"
printf '%s\n' "gvfsd-fuse does not show $uri$why" ${output:+"$output"} >&2
exit 1
