# shellcheck shell=sh
# Take the change of the record $1 back after $2 seconds, unless the timer is disarmed before. It counts seconds instead
# of sleeping once, so that it ends soon after it was disarmed.
trap '' HUP
echo "$$ $(started $$)" > "$1.armed" || exit
tries=0
while [ $tries -lt "$2" ]; do
    sleep 1
    [ -e "$1.armed" ] || exit 0
    tries=$((tries + 1))
done
mv "$1.armed" "$1.fired" 2>/dev/null && sh "$1.undo"
