# shellcheck shell=sh
# After the function names, which runs host_journal_names.pl. Names of runs and records stand in no list of processes:
# programs get them by standard input.
# remove: remove the files of this folder that match a line of standard input.
remove() { names remove; }
# move FROM TO: rename a file of this folder.
move() { printf '%s\n' "$1" "$2" | names move; }
