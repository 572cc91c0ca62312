# shellcheck shell=sh
# After host_journal_enter.sh. Run the script $3 there, with the folder to itself; $2 is host_journal_alone.pl.
exec perl -e "$2" -- sh -c "$3"
