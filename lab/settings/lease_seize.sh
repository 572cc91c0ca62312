# shellcheck disable=SC2034,SC2154  # lost is of end_orphans.sh, narrow of account_of.sh
# As the guard of a lease: take the lock of its run, and end the run's processes on this host. Standard input: the run and
# the guard's process. Prints `seized`, unless somebody else has taken the lock meanwhile.
read -r token && read -r guard && [ "$(account_of "$guard")" = "${narrow:-$(id -u)}" ] || exit
run=
if is_own lock; then { read -r run pid start; read -r owner; read -r account; } < lock; fi
[ "$run" = "$token" ] || exit
who="the host itself, which puts back what a run changed that it has not heard of for too long"
since=$(date -u '+%Y-%m-%d %H:%M UTC')
owner=$(printf '{"lapsed": true, "who": "%s", "pid": "%s", "since": "%s"}' "$who" "$guard" "$since")
printf 'lapsed %s %s\n%s\n' "$guard" "$(started "$guard")" "$owner" >lapsed.lock && move lapsed.lock lock || exit
if [ "$pid" != 0 ]; then
    end "$pid" "$start" "$account"
    lost=yes
    end_orphans
fi
echo seized
