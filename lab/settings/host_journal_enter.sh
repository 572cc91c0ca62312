# shellcheck shell=sh
# Enter the host journal's folder $1. One that somebody else made, or a link, could hold commands that are theirs.
# shellcheck disable=SC3067  # every shell that is /bin/sh on Linux or a Mac has -O
if [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] && cd "$1"; then :; else
    echo "$1 is not the lab's own folder" >&2
    exit 1
fi
