# shellcheck shell=sh
# Take the lock, in the host journal's folder. Standard input is the run, and its owner as JSON, a line each. Prints
# - `taken`, the start of the host, and `again` where the run had the lock, else `anew`; or
# - `held`, the process of the session that has the lock, and its owner; or
# - `lapsed` with the same, where the host itself has it and puts back what another run left.
#
# The first line of the lock is the run, the process of its SSH session, and when that started; the second the owner; the third
# the account with whose rights that process may be ended, which is its own. `-` is none: a narrow sudo ends nothing of others.
read -r taker && read -r taker_owner || exit
run='' pid='' start='' owner='' account=''
if is_own lock; then { read -r run pid start; read -r owner; read -r account; } < lock; fi
if [ -n "$run" ] && [ "$run" != "$taker" ] && { [ "$pid" = 0 ] || is_alive "$pid" "$start"; }; then
    [ "$run" = lapsed ] || run=held
    printf '%s\n' "$run" "$pid" "$owner"
    exit
fi
session=$(ssh_session)
whose=$(account_of "${session%% *}")
# shellcheck disable=SC2154  # narrow is of account_of.sh
[ "${narrow:-$whose}" = "$whose" ] || whose=-
if printf '%s %s\n%s\n%s\n' "$taker" "$session" "$taker_owner" "$whose" > "$taker.lock" && move "$taker.lock" lock; then :; else
    printf '%s\n' "$taker.lock" | remove
    exit 1
fi
# Only now: at no time may the lock of a run that goes on seem that of an ended one. The server of the connection that
# this run had before may not know yet that it is gone. What it runs is no orphan until then.
had=anew
if [ "$run" != "$taker" ]; then end_guard; else
    had=again
    [ "$pid $start" = "$session" ] || end "$pid" "$start" "$account"
fi
end_orphans
printf '%s\n' taken "$(boot)" $had
