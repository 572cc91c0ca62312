# usage: noise.pl make|check PATH BYTES SEED
# After noise_round.pl. Write BYTES of SEED's noise to the new file PATH, or prove that PATH holds exactly these. No link is
# followed.
my ($mode, $path, $size, $seed) = @ARGV;
my $round = whole_round($seed, $size);

sub make {
    my $file = start($path, O_WRONLY | O_CREAT | O_EXCL);
    for (my $at = 0; $at < $size; $at += $CHUNK) {
        put($path, $file, \$round, $at % $ROUND, $size - $at < $CHUNK ? $size - $at : $CHUNK);
    }
    chmod 0644, $file or die "$path: $!\n";
    close $file or die "$path: $!\n";
}

# What is wrong with the bytes from one place to another; empty if nothing is.
sub compare {
    my ($first, $end) = @_;
    my $file = start($path, O_RDONLY | O_NONBLOCK);
    defined sysseek $file, $first, 0 or die "$path: $!\n";
    for (my $at = $first; $at < $end; $at += $CHUNK) {
        my $length = $end - $at < $CHUNK ? $end - $at : $CHUNK;
        get($path, $file, $length);
        return "differs within $CHUNK bytes from byte $at\n" if $found ne substr $round, $at % $ROUND, $length;
    }
    return $end == $size && sysread($file, $found, 1) ? "goes on after $size bytes\n" : '';
}

# A second process compares half of a large file: most hosts have another core.
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
