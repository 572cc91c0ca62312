# shellcheck shell=sh
# Start the timer $3 (a script), of $2 seconds; $4 is session.pl. Standard input is the name of the record, a line, and
# then the script that takes the change back. The timer keeps that in its memory: a file could be another one by the
# time that it is run.
read -r record && undo=$(cat) && [ -n "$undo" ] || exit
printf '%s\n' "$record.armed" "$record.fired" | remove
# It gets a session of its own, so that it outlives that of SSH.
LAB_RECORD=$record LAB_UNDO=$undo perl -e "$4" -- sh -c "$3" sh "$2" </dev/null >/dev/null 2>&1 &
# On a host that stands still for as long as the timer waits, it is due before it is seen here.
until [ -s "$record.armed" ] || [ -s "$record.fired" ]; do
    sleep 0.01
    kill -s 0 $! || [ -s "$record.fired" ] || { echo "the timer that takes it back did not start" >&2; exit 1; }
done
