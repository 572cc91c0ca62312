# shellcheck shell=sh
# Make the folders of a GVfs session in $1, and its list of what can be mounted.
#
# gvfsd-afp has a use-after-free that shows when a reply overtakes the write that asked for it; under a real-time
# scheduler the write's callback runs first.
# shellcheck disable=SC2174  # nobody else gets below $1
mkdir -p -m 700 "$1" "$1/run" "$1/run/gvfs" "$1/mountable" && cp /usr/share/gvfs/mounts/*.mount "$1/mountable/" &&
    for file in "$1"/mountable/afp*.mount; do
        chrt -r 1 true 2>/dev/null && sed -i 's|^Exec=|Exec=/usr/bin/chrt -r 1 |' "$file"
    done
:
