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

sub start {
    my ($flags) = @_;
    sysopen my $file, $path, $flags | O_NOFOLLOW or die "$path: $!\n";
    die "$path: no file\n" unless -f $file;
    binmode $file;
    return $file;
}

sub make {
    my $file = start(O_WRONLY | O_CREAT | O_EXCL);
    for (my $at = 0; $at < $size; $at += $CHUNK) {
        put($file, $at % $ROUND, $size - $at < $CHUNK ? $size - $at : $CHUNK);
    }
    chmod 0644, $file or die "$path: $!\n";
    close $file or die "$path: $!\n";
}

# What is wrong with the bytes from one place to another; nothing where they are right.
sub compare {
    my ($first, $end) = @_;
    my $file = start(O_RDONLY | O_NONBLOCK);
    defined sysseek $file, $first, 0 or die "$path: $!\n";
    for (my $at = $first; $at < $end; $at += $CHUNK) {
        my $length = $end - $at < $CHUNK ? $end - $at : $CHUNK;
        get($file, $length);
        return "differs within $CHUNK bytes from byte $at\n" if $found ne substr $round, $at % $ROUND, $length;
    }
    return $end == $size && sysread($file, $found, 1) ? "goes on after $size bytes\n" : '';
}

# What a processor compares in a tenth of a second is worth a second process: most hosts have another core.
sub check {
    my $half = $size < 1 << 28 ? $size : int($size / 2 / $CHUNK) * $CHUNK;
    return compare(0, $size) if $half == $size;
    defined(my $pid = open my $second, '-|') or die "fork: $!\n";
    if (!$pid) {
        print compare($half, $size);
        exit;
    }
    my $wrong = compare(0, $half);
    $wrong .= join '', <$second>;
    close $second or die "$path: its second half could not be compared\n";
    return $wrong;
}

if ($mode eq 'make') { make() }
my $wrong = $mode eq 'make' ? '' : check();
print $wrong || "as made\n";
