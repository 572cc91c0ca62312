# shellcheck shell=sh
# Start the service of the property list $1, and wait for the shell test $2.
#
# -F passes over that the server is switched off and, other than -w, leaves it so: nobody can take launchd's note of a
# switch away again. launchctl may fail and exit 0: what reads back decides.
launchctl load -F "$1" || exit
tries=0
until sh -c "$2"; do
    tries=$((tries + 1))
    [ $tries -gt 150 ] && { echo "$1 was loaded, and nothing listens" >&2; exit 1; }
    sleep 0.1
done
