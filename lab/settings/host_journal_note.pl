# Put the second line of standard input into a file of this folder, whose name is the first, and have it on the disk. In
# perl, because no shell can wait for one file to be on the disk.
use strict; use warnings; use IO::Handle;
chomp(my $name = <STDIN>);
open my $file, '>', "$name.part" or die "$name.part: $!\n";
print $file scalar <STDIN> or die "$name: $!\n";
$file->flush && $file->sync && close $file && rename "$name.part", $name or die "$name: $!\n";
if (open my $folder, '<', '.') { $folder->sync }
