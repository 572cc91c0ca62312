# Run the command in the arguments with a file lock on this folder, so that only one process at a time can read and take
# the lock of the host journal. The file lock ends with this process.
use strict; use warnings;
open(my $folder, '<', '.') or die "$!\n";
flock($folder, 2) or die "$!\n";
exit(system(@ARGV) >> 8);
