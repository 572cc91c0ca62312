# Take the lock in the folder of the host journal. Standard input: a line with the run, a line with its owner as JSON. Prints
# - `taken`, the boot of the host, and `again` if the run had the lock before, else `anew`; or
# - `held`, the process of the session that has the lock, and its owner; or
# - `lapsed` and the same two, if the host itself has the lock and puts back what another run left.
#
# Line 1 of the lock: the run, the process of its SSH session and its start. Line 2: the owner. Line 3: the account of that
# process, with whose rights it may be ended, or `-`: a narrow sudo ends no processes of others.
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
# Only now, so that the lock of a running run never seems to be left over. The server of the run's previous connection may
# not have noticed its end yet; until then its commands are no orphans.
had=anew
if [ "$run" != "$taker" ]; then end_guard; else
    had=again
    [ "$pid $start" = "$session" ] || end "$pid" "$start" "$account"
fi
end_orphans
printf '%s\n' taken "$(boot)" $had
