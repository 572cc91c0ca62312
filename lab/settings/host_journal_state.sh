# shellcheck disable=SC2154  # place is of host_journal_enter.sh
# Print `taken` if the folder belongs to the run in standard input, or is empty because a run got no further; else `absent`.
# shellcheck disable=SC2034  # the rest of the line is not needed
is_taken() {
    run=
    if is_own lock; then read -r run rest < lock; fi
    [ "$run" = "$1" ] || [ -e "$1.lock" ] || [ -z "$(ls -A)" ]
}
read -r token
if enter "$place" && is_taken "$token"; then echo taken; else echo absent; fi
