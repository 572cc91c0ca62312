# Make the folders of a GVfs session in $1, and its list of what can be mounted.
# gvfsd-afp uses freed memory if a reply comes before the callback of the write that asked for it. A real-time scheduler
# makes that rare; mimalloc makes it harmless, because it reuses freed memory late.
# shellcheck disable=SC2174  # nobody else gets below $1
mkdir -p -m 700 "$1" "$1/run" "$1/run/gvfs" "$1/mountable" && cp /usr/share/gvfs/mounts/*.mount "$1/mountable/" || exit
with=
if chrt -r 1 true 2>/dev/null; then with="/usr/bin/chrt -r 1 "; fi
for library in libmimalloc.so.3 libmimalloc.so.2; do
    if [ -z "$(env LD_PRELOAD=$library true 2>&1)" ]; then
        with="/usr/bin/env LD_PRELOAD=$library $with"
        break
    fi
done
set -- "$1"/mountable/afp*.mount # there are none where GVfs comes without AFP
if [ -e "$1" ]; then sed -i "s|^Exec=|&$with|" "$@"; fi
