# shellcheck shell=sh
# Take the lock, in the host journal's folder: standard input is the run, and its owner as JSON, a line each. Prints
# `taken` and the start of the host, or `held`, the process of the session that has it, and its owner.
#
# The first line of the lock is the run, the process of its SSH session, and when that started; the second the owner.
read -r taker && read -r taker_owner || exit
run='' pid='' start='' owner=''
if is_own lock; then { read -r run pid start; read -r owner; } < lock; fi
if [ -n "$run" ] && [ "$run" != "$taker" ] && { [ "$pid" = 0 ] || is_alive "$pid" "$start"; }; then
    printf 'held\n%s\n%s\n' "$pid" "$owner"
    exit
fi
session=$(ssh_session)
if printf '%s %s\n%s\n' "$taker" "$session" "$taker_owner" > "$taker.lock" && move "$taker.lock" lock; then :; else
    printf '%s\n' "$taker.lock" | remove
    exit 1
fi
# Only now: at no time may the lock of a run that goes on seem that of an ended one. The server of the connection that this
# run had before may not know yet that it is gone. What it runs is no orphan until then.
[ "$run" != "$taker" ] || [ "$pid $start" = "$session" ] || end "$pid" "$start"
end_orphans
printf 'taken\n%s\n' "$(boot)"
