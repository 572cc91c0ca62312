# Write the second line of standard input durably to a file in this folder, whose name is the first line. In perl, because
# a shell cannot sync one file.
use strict; use warnings; use IO::Handle;
chomp(my $name = <STDIN>);
open my $file, '>', "$name.part" or die "$name.part: $!\n";
print $file scalar <STDIN> or die "$name: $!\n";
$file->flush && $file->sync && close $file && rename "$name.part", $name or die "$name: $!\n";
if (open my $folder, '<', '.') { $folder->sync }
