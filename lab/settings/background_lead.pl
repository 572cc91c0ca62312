# Turn into a command that leads a session of its own. The first argument is the file to write the process's id and
# start to, before anything else can go wrong: so it is found and ended wherever the start is cut short.
use strict; use warnings; use POSIX 'setsid';
my $file = shift;
setsid();
my $start;
if (open my $stat, '<', "/proc/$$/stat") { ($start) = <$stat> =~ /^.*\) (.*)/; $start = (split ' ', $start)[19] }
else { $start = join ' ', split ' ', `ps -o lstart= -p $$` }
open my $own, '>', "$file.part" or die "$file.part: $!\n";
printf $own "%d\n%s\n", $$, $start and close $own and rename "$file.part", $file or die "$file: $!\n";
exec @ARGV or die "$ARGV[0]: $!\n";
