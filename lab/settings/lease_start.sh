# shellcheck shell=sh
# Start the guard $3, lease_guard.pl, of a lease of $2 seconds, with its scripts strike $4, seize $5 and release $6.
# Standard input is for the guard, which has its socket once it has printed its number.
guard=$(perl -e "$3" -- "$1" "$2" "${SUDO_UID:-}" "$4" "$5" "$6") &&
    echo "$guard $(started "$guard")" >lease.part && move lease.part lease
