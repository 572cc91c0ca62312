# shellcheck disable=SC2154  # place is of host_journal_enter.sh
# Give up the lock of the run in standard input, end the guard of its lease, and remove the folder if it is empty.
# shellcheck disable=SC2034  # the rest of the line is not needed
release() {
    is_own lock && { read -r run rest < lock; } && [ "$run" = "$1" ] && { end_guard; rm -f lock; }
    printf '%s\n' "$1.*" | remove
}
read -r token
(enter "$place" && release "$token")
leave_journal "$1"
