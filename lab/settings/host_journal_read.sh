# shellcheck disable=SC2154  # place is of host_journal_enter.sh
# Print `held`, the process of the session with the lock, and its owner, a line each; or `free`. Then a line per record.
print_lock() {
    is_own lock || return
    { read -r run pid start; read -r owner; } < lock
    [ -n "$run" ] && { [ "$pid" = 0 ] || is_alive "$pid" "$start"; } && printf 'held\n%s\n%s\n' "$pid" "$owner"
}
print_records() {
    for record in *-[0-9]*; do
        case $record in *.*) ;; *) is_own "$record" && cat <"$record" ;; esac
    done
}
is_there() { [ -e "$place" ] || [ -L "$place" ]; }
if is_there; then (enter_journal) || exit; fi
# enter it anew for each look: a run may make or remove it meanwhile
look() { is_there && enter_journal && "$1"; }
lock=$(look print_lock)
records=$(look print_records)
# a run may have begun, and noted its first change, since
[ -n "$lock" ] || [ -z "$records" ] || lock=$(look print_lock)
printf '%s\n' "${lock:-free}"
[ -z "$records" ] || printf '%s\n' "$records"
