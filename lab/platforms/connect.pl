# usage: connect.pl ADDRESS PORT, after answers.pl. Prints "yes" if something accepts TCP connections there, else "no".
use strict;
use warnings;
print answers(@ARGV, 3) ? "yes\n" : "no\n";
