# usage: copy_uncached.pl SOURCE TARGET
# Copies a file to a new one past the file cache of a Mac (F_NOCACHE of fcntl(2)), and flushes it.
use strict;
use warnings;
use Fcntl;
use IO::Handle;

my ($F_NOCACHE, $CHUNK) = (48, 1 << 20);    # <sys/fcntl.h> of macOS; perl's Fcntl does not know it
my ($source, $target) = @ARGV;
sysopen(my $from, $source, O_RDONLY) or die "$source: $!\n";
umask 0022;    # whoever reads it later may be another account, on another client
sysopen(my $to, $target, O_WRONLY | O_CREAT | O_EXCL) or die "$target: $!\n";
if ($^O eq 'darwin') { fcntl $to, $F_NOCACHE, 1 or die "$target: F_NOCACHE: $!\n" }
while (1) {
    my $count = sysread($from, my $data, $CHUNK);
    die "$source: $!\n" unless defined $count;
    last if $count == 0;
    for (my $at = 0; $at < $count;) {
        my $written = syswrite $to, $data, $count - $at, $at;
        die "$target: $!\n" unless defined $written;
        $at += $written;
    }
}
$to->sync or die "$target: $!\n";
close $to or die "$target: $!\n";
