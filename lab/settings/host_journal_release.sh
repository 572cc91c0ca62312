# shellcheck shell=sh
# Give up the lock of the run $2 in the folder $1, and the folder too where nothing else is in it.
cd "$1" || exit 0
# shellcheck disable=SC2034  # the rest of the line is not needed
{ read -r run rest < lock; } 2>/dev/null
[ "$run" = "$2" ] && rm -f lock
rm -f "$2".*
if cd /; then rmdir "$1" 2>/dev/null; fi
:
