# usage: tree.pl make|check TOP SEED < MANIFEST
# Makes a tree at TOP, where nothing may be yet, or proves that TOP holds just this one: lines "d PATH" and "f BYTES PATH"
# are its folders and files, below TOP. The files, in their order, hold one noise cut up, which the seed makes. No link is
# followed. noise_round.pl stands in front of it.
my ($mode, $top, $seed) = @ARGV;
my (@folders, @files);
my ($size, $place) = (0, 0);
while (my $line = <STDIN>) {
    if ($line =~ /^d (.+)\n/) { push @folders, $1 }
    if ($line =~ /^f (\d+) (.+)\n/) { push @files, [$1, $2]; $size += $1 }
}
my $round = whole_round($seed, $size);

sub make {
    umask 0022;
    for my $folder ($top, map { "$top/$_" } @folders) { mkdir $folder, 0755 or die "$folder: $!\n" }
    for (@files) {
        my ($length, $path) = ($$_[0], "$top/$$_[1]");
        my $file = start($path, O_WRONLY | O_CREAT | O_EXCL);
        for (my $at = 0; $at < $length; $at += $CHUNK) {
            put($path, $file, \$round, ($place + $at) % $ROUND, $length - $at < $CHUNK ? $length - $at : $CHUNK);
        }
        close $file or die "$path: $!\n";
        $place += $length;
    }
}

# What is wrong with one file; nothing where it is right.
sub compare {
    my ($length, $path) = @_;
    my $file = start("$top/$path", O_RDONLY | O_NONBLOCK);
    for (my $at = 0; $at < $length; $at += $CHUNK) {
        my $part = $length - $at < $CHUNK ? $length - $at : $CHUNK;
        get($path, $file, $part);
        return "$path: differs within $CHUNK bytes from byte $at\n"
            if $found ne substr $round, ($place + $at) % $ROUND, $part;
    }
    return sysread($file, $found, 1) ? "$path: goes on after $length bytes\n" : '';
}

# What is there that was not sent, or is no folder or file; and how many there are of both.
sub look_through {
    my %sent = map { $_ => 1 } @folders, map { $$_[1] } @files;
    my ($count, $strange, @left) = (0, '', '');
    while (@left) {
        my $folder = shift @left;
        opendir my $names, "$top/$folder" or die "$top/$folder: $!\n";
        for my $name (grep { !/^\.\.?$/ } readdir $names) {
            my $path = $folder eq '' ? $name : "$folder/$name";
            $count++;
            $strange ||= "$path: was not sent\n" unless $sent{$path};
            return ($count, "$path: is neither folder nor file\n") if -l "$top/$path" || !(-d _ || -f _);
            push @left, $path if -d _;
        }
    }
    return ($count, $strange);
}

# A file system may give names back in another form of Unicode: what can be opened by its name, and is not one too many,
# is there.
sub check {
    my ($count, $strange) = look_through();
    return $strange || "something is missing\n" if $count != @folders + @files;
    for (@folders) { return "$_: no folder\n" unless -d "$top/$_" }
    for (@files) {
        my $wrong = compare(@$_);
        return $wrong if $wrong;
        $place += $$_[0];
    }
    return '';
}

if ($mode eq 'make') { make() }
my $wrong = $mode eq 'make' ? '' : check();
print $wrong || "as made\n";
