# Gives the command in its arguments this folder to itself: whoever looks at the lock and takes it must not be disturbed
# by somebody else who does. The file lock ends with the process.
use strict; use warnings;
open(my $folder, '<', '.') or die "$!\n";
flock($folder, 2) or die "$!\n";
exit(system(@ARGV) >> 8);
