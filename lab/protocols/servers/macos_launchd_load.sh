# shellcheck shell=sh
# Start the service $3 of the property list $1, and wait for the shell test $2.
#
# load, the word of every version so far, passes with -F over a property list that switches the service off and, other
# than with -w, takes no note of it. bootstrap is the word for the day that load is gone: it does not pass over that.
# launchctl may fail and exit 0: what reads back decides.
said=$(launchctl load -F "$1" 2>&1)
if ! launchctl list "$3" >/dev/null 2>&1; then
    launchctl bootstrap system "$1" || { echo "$said" >&2; exit 1; }
fi
tries=0
until sh -c "$2"; do
    tries=$((tries + 1))
    [ $tries -gt 150 ] && { echo "$1 was loaded, and nothing listens" >&2; exit 1; }
    sleep 0.1
done
