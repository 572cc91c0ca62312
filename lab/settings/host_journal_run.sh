# shellcheck shell=sh
# After host_journal_enter.sh. Turn into the script $2, which finds the journal in its current folder.
exec perl -e "$2" --
