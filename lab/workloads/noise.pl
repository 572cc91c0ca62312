# usage: noise.pl make|check PATH BYTES SEED
# Writes BYTES of noise to PATH, where nothing may be yet, or proves that PATH holds just these; every seed has a noise of
# its own. No link is followed.
# Two short noises of prime lengths are combined to one of 8 MiB, which goes round: more than what compresses a transfer
# looks back, and as its length is a prime, no two blocks of a file system are alike in a file of less than that many
# blocks. So noise is made, and read back, about as fast as memory can be written and read, on both hosts alike.
use strict;
use warnings;
use Fcntl;
use Digest::SHA 'sha512';

my ($CHUNK, $ROUND) = (1 << 18, 8388617);
my @PRIMES = (262147, 262151);
my ($mode, $path, $size, $seed) = @ARGV;

sub noise {
    my ($length) = @_;
    my $noise = '';
    for (my $count = 0; length $noise < $length; $count++) { $noise .= sha512("$seed/$length/$count") }
    $noise = substr $noise, 0, $length;
    return $noise . substr $noise, 0, $CHUNK;    # so that a whole chunk begins anywhere in it
}

my ($one, $other) = map { noise($_) } @PRIMES;
my $round = '';
for (my $at = 0; $at < $size && $at < $ROUND; $at += $CHUNK) {
    $round .= substr($one, $at % $PRIMES[0], $CHUNK) ^ substr $other, $at % $PRIMES[1], $CHUNK;
}
$round = substr $round, 0, $ROUND;
$round .= substr $round, 0, $CHUNK;

sub put {
    my ($file, $from, $length) = @_;
    while ($length > 0) {
        my $count = syswrite $file, $round, $length, $from;
        die "$path: $!\n" unless defined $count;
        ($from, $length) = ($from + $count, $length - $count);
    }
}

my $found;    # one buffer for all, or each would be given back to the system and cleared anew

sub get {
    my ($file, $length) = @_;
    $found = '';
    while (length $found < $length) {
        my $count = sysread $file, $found, $length - length $found, length $found;
        die "$path: $!\n" unless defined $count;
        last if $count == 0;
    }
}

my $flags = $mode eq 'make' ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY | O_NONBLOCK;
sysopen my $file, $path, $flags | O_NOFOLLOW or die "$path: $!\n";
die "$path: no file\n" unless -f $file;
binmode $file;
for (my $at = 0; $at < $size; $at += $CHUNK) {
    my ($from, $length) = ($at % $ROUND, $size - $at < $CHUNK ? $size - $at : $CHUNK);
    if ($mode eq 'make') { put($file, $from, $length); next }
    get($file, $length);
    if ($found ne substr $round, $from, $length) { print "differs within $CHUNK bytes from byte $at\n"; exit }
}
if ($mode eq 'make') {
    chmod 0644, $file or die "$path: $!\n";
    close $file or die "$path: $!\n";
}
elsif (sysread $file, $found, 1) { print "goes on after $size bytes\n"; exit }
print "as made\n";
