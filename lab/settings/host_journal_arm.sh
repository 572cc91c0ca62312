# Start the timer $3 (a script) of $2 seconds; $4 is session.pl. Standard input is a line with the name of the record, and
# the script that undoes the change. The timer keeps the script in memory, because a file could be swapped.
read -r record && undo=$(cat) && [ -n "$undo" ] || exit
printf '%s\n' "$record.armed" "$record.fired" | remove
# It has a session of its own, so that it outlives the SSH session.
LAB_RECORD=$record LAB_UNDO=$undo perl -e "$4" -- sh -c "$3" sh "$2" </dev/null >/dev/null 2>&1 &
# If the host stalls for as long as the timer waits, the timer fires before it is seen here.
until [ -s "$record.armed" ] || [ -s "$record.fired" ]; do
    sleep 0.01
    kill -s 0 $! || [ -s "$record.fired" ] || { echo "the timer that takes it back did not start" >&2; exit 1; }
done
