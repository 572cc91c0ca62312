# shellcheck shell=sh
# Take the lock, in the host journal's folder: $2 the run, $3 its owner, as JSON. Prints `taken` and the start of the
# host, or `held`, the process of the session that has it, and its owner.
#
# The first line of the lock is the run, the process of its SSH session, and when that started; the second the owner.
run='' pid='' start='' owner=''
{ read -r run pid start; read -r owner; } 2>/dev/null < lock
if [ -n "$run" ] && [ "$run" != "$2" ] && { [ "$pid" = 0 ] || is_alive "$pid" "$start"; }; then
    printf 'held\n%s\n%s\n' "$pid" "$owner"
    exit
fi
session=$(ssh_session)
# The server of the connection that this run had before may not know yet that it is gone. What it runs is no orphan until
# then.
[ "$run" != "$2" ] || [ "$pid $start" = "$session" ] || end "$pid" "$start"
end_orphans
if printf '%s %s\n%s\n' "$2" "$session" "$3" > "$2.lock" && mv -f "$2.lock" lock; then :; else
    rm -f "$2.lock"
    exit 1
fi
printf 'taken\n%s\n' "$(boot)"
