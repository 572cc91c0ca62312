# shellcheck shell=sh
# Print `taken` where the folder $1 is the run $2's, else `absent`. A folder of the lab's with nothing in it was made by a
# run that came no further.
# shellcheck disable=SC3067  # every shell that is /bin/sh on Linux or a Mac has -O
if [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] && cd "$1"; then :; else
    echo absent
    exit
fi
# shellcheck disable=SC2034  # the rest of the line is not needed
{ read -r run rest < lock; } 2>/dev/null
if [ "$run" = "$2" ] || [ -e "$2.lock" ] || [ -z "$(ls -A)" ]; then echo taken; else echo absent; fi
