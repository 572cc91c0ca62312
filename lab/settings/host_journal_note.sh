# shellcheck shell=sh
# After host_journal_enter.sh. Turn into the script $2, host_journal_note.pl.
exec perl -e "$2" --
