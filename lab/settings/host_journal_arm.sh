# shellcheck shell=sh
# Start the timer $4 (a script) of the record $2, of $3 seconds; standard input is the script that takes the change back.
# The timer gets a session of its own, so that it outlives that of SSH.
cat > "$2.undo" || exit
rm -f "$2.armed" "$2.fired"
perl -MPOSIX=setsid -e 'setsid(); exec @ARGV' sh -c "$4" sh "$2" "$3" </dev/null >/dev/null 2>&1 &
until [ -s "$2.armed" ]; do
    sleep 0.01
    kill -s 0 $! || { echo "the timer that takes it back did not start" >&2; exit 1; }
done
