# usage: remove|move. Standard input has names in this folder, one a line: removes all files that match one of them, or
# renames the first to the second.
use strict; use warnings;
chomp(my @names = <STDIN>);
if ($ARGV[0] eq 'remove') { unlink map { glob } @names; exit }
rename $names[0], $names[1] or exit 1;
