# Stands in front of noise.pl and tree.pl, which set $seed and $size before they call whole_round().
# Two short noises of prime lengths are combined to one of 8 MiB, which goes round: more than what compresses a transfer
# looks back, and as its length is a prime, no two blocks of a file system are alike in a file of less than that many
# blocks. So noise is made, and read back, about as fast as memory can be written and read, on both hosts alike.
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
    return $noise . substr $noise, 0, $CHUNK;    # so that a whole chunk begins anywhere in it
}

# The noise that goes round, as far as so many bytes need it, and its first chunk once more.
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

# Writes so many bytes of a text, from one place on.
sub put {
    my ($path, $file, $text, $from, $length) = @_;
    while ($length > 0) {
        my $count = syswrite $file, $$text, $length, $from;
        die "$path: $!\n" unless defined $count;
        ($from, $length) = ($from + $count, $length - $count);
    }
}

my $found;    # one buffer for all, or each would be given back to the system and cleared anew

# Reads up to so many bytes into $found.
sub get {
    my ($path, $file, $length) = @_;
    $found = '';
    while (length $found < $length) {
        my $count = sysread $file, $found, $length - length $found, length $found;
        die "$path: $!\n" unless defined $count;
        last if $count == 0;
    }
}

# Opens a file, which must be one; no link is followed.
sub start {
    my ($path, $flags) = @_;
    sysopen my $file, $path, $flags | O_NOFOLLOW or die "$path: $!\n";
    die "$path: no file\n" unless -f $file;
    binmode $file;
    return $file;
}
