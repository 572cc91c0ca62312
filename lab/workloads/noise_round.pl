# Before noise.pl and tree.pl, which set $seed and $size and then call whole_round(). Two short noises of prime lengths
# make a round of 8 MiB that repeats. No compressor of a transfer looks back so far, and because its length is prime, no
# two blocks are alike in a file with fewer blocks than that. Noise is made and compared about as fast as memory allows.
use strict;
use warnings;
use Fcntl;
use Digest::SHA 'sha512';

my ($CHUNK, $ROUND) = (1 << 18, 8388617);
my @PRIMES = (262147, 262151);

sub noise {
    my ($seed, $length) = @_;
    my $noise = '';
    for (my $count = 0; length $noise < $length; $count++) { $noise .= sha512("$seed/$length/$count") }
    $noise = substr $noise, 0, $length;
    return $noise . substr $noise, 0, $CHUNK;    # a whole chunk may begin anywhere
}

# The round, as far as these bytes need it, and its first chunk again.
sub whole_round {
    my ($seed, $size) = @_;
    my ($one, $other) = map { noise($seed, $_) } @PRIMES;
    my $round = '';
    for (my $at = 0; $at < $size && $at < $ROUND; $at += $CHUNK) {
        $round .= substr($one, $at % $PRIMES[0], $CHUNK) ^ substr $other, $at % $PRIMES[1], $CHUNK;
    }
    $round = substr $round, 0, $ROUND;
    return $round . substr $round, 0, $CHUNK;
}

# Write part of a text.
sub put {
    my ($path, $file, $text, $from, $length) = @_;
    while ($length > 0) {
        my $count = syswrite $file, $$text, $length, $from;
        die "$path: $!\n" unless defined $count;
        ($from, $length) = ($from + $count, $length - $count);
    }
}

my $found;    # one buffer for all: a new one would be cleared by the system each time

# Read up to $length bytes into $found.
sub get {
    my ($path, $file, $length) = @_;
    $found = '';
    while (length $found < $length) {
        my $count = sysread $file, $found, $length - length $found, length $found;
        die "$path: $!\n" unless defined $count;
        last if $count == 0;
    }
}

# Open a regular file; no link is followed.
sub start {
    my ($path, $flags) = @_;
    sysopen my $file, $path, $flags | O_NOFOLLOW or die "$path: $!\n";
    die "$path: no file\n" unless -f $file;
    binmode $file;
    return $file;
}
