# Start a command in the background and wait until it is ready, testing 1500 times. $1 is the file that will identify it,
# $2 its log, $3 a shell test of readiness, $4 background_lead.pl; then the command.
file=$1 log=$2 ready=$3 lead=$4
shift 4
rm -f "$file"
perl -e "$lead" -- "$file" "$@" >"$log" 2>&1 </dev/null &
pid=$!
tries=0
until [ -s "$file" ] && sh -c "$ready"; do
    tries=$((tries + 1))
    if [ $tries -gt 1500 ] || ! kill -0 $pid 2>/dev/null; then
        echo "$1 did not become ready:" >&2
        tail -n 5 "$log" >&2
        kill -s KILL -- -$pid 2>/dev/null
        rm -f "$file"
        exit 1
    fi
    sleep 0.01
done
