# Start the service $3 of the property list $1, and wait for the shell test $2.
# Every version so far has `load`. With -F it also starts a service that its property list disables, and does not change
# launchd's note of the switch, as -w does. bootstrap is for versions without load; it starts no disabled service. launchctl
# may fail and exit 0, so `list` decides.
output=$(launchctl load -F "$1" 2>&1)
if ! launchctl list "$3" >/dev/null 2>&1; then
    launchctl bootstrap system "$1" || { echo "$output" >&2; exit 1; }
fi
tries=0
until sh -c "$2"; do
    tries=$((tries + 1))
    [ $tries -gt 150 ] && { echo "$1 was loaded, and nothing listens" >&2; exit 1; }
    sleep 0.1
done
