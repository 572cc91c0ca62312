# shellcheck disable=SC2154  # LAB_RECORD and LAB_UNDO are of the environment
# After FILES of host_journal.py.
# Undo the change of the record LAB_RECORD by the script LAB_UNDO after $1 seconds, unless the timer is disarmed before. It
# sleeps second by second, so that it ends soon after that.
record=$LAB_RECORD undo=$LAB_UNDO
unset LAB_RECORD LAB_UNDO
trap '' HUP
echo "$$ $(started $$)" > "$record.armed" || exit
tries=0
while [ $tries -lt "$1" ]; do
    sleep 1
    [ -e "$record.armed" ] || exit 0
    tries=$((tries + 1))
done
move "$record.armed" "$record.fired" && sh -c "$undo"
