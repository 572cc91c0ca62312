# usage: connect.pl ADDRESS PORT
# Prints "yes" where something takes TCP connections there, else "no". answers.pl stands in front of it.
use strict;
use warnings;
print answers(@ARGV, 3) ? "yes\n" : "no\n";
