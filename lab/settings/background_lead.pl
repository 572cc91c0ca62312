# Become a command that leads a session of its own. First write the process's number and start to the file in the first
# argument, so that the process can be found and ended even if the start is interrupted.
use strict; use warnings; use POSIX 'setsid';
my $file = shift;
setsid();
my $start;
if (open my $stat, '<', "/proc/$$/stat") { ($start) = <$stat> =~ /^.*\) (.*)/; $start = (split ' ', $start)[19] }
else { $start = join ' ', split ' ', `ps -o lstart= -p $$` }
open my $own, '>', "$file.part" or die "$file.part: $!\n";
printf $own "%d\n%s\n", $$, $start and close $own and rename "$file.part", $file or die "$file: $!\n";
exec @ARGV or die "$ARGV[0]: $!\n";
