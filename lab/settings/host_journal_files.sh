# shellcheck shell=sh
# Names of runs and records stand in no list of processes: programs get them by standard input.
# remove: remove the files of this folder that match a line of standard input.
remove() { perl -e 'unlink map { chomp; glob } <STDIN>'; }
# move FROM TO: rename a file of this folder.
move() { printf '%s\n' "$1" "$2" | perl -e 'chomp(my ($from, $to) = <STDIN>); rename $from, $to or exit 1'; }
