# usage: tree.pl make|change|check TOP SEED EACH < MANIFEST
# After noise_round.pl. Make a tree at the new folder TOP, or prove that TOP holds exactly this tree: lines "d PATH" and
# "f BYTES PATH" are its folders and files. The files, in order, hold pieces of SEED's noise. After a change, the first file
# and every EACH-th after it hold a second noise, and are ten seconds younger; 0 for none. No link is followed.
my ($mode, $top, $seed, $each) = @ARGV;
my (@folders, @files);
my ($size, $place) = (0, 0);
while (my $line = <STDIN>) {
    if ($line =~ /^d (.+)\n/) { push @folders, $1 }
    if ($line =~ /^f (\d+) (.+)\n/) { push @files, [$1, $2]; $size += $1 }
}
my $old = whole_round($seed, $size);
my $new = $each ? whole_round("$seed/changed", $size) : '';

sub is_changed { my ($number) = @_; return $each && $number % $each == 0 }

sub put_all {
    my ($path, $flags, $round, $length) = @_;
    my $file = start($path, $flags);
    for (my $at = 0; $at < $length; $at += $CHUNK) {
        put($path, $file, $round, ($place + $at) % $ROUND, $length - $at < $CHUNK ? $length - $at : $CHUNK);
    }
    close $file or die "$path: $!\n";
}

sub make {
    umask 0022;
    for my $folder ($top, map { "$top/$_" } @folders) { mkdir $folder, 0755 or die "$folder: $!\n" }
    for (@files) {
        put_all("$top/$$_[1]", O_WRONLY | O_CREAT | O_EXCL, \$old, $$_[0]);
        $place += $$_[0];
    }
    return '';
}

sub change {
    my $younger = time + 10;
    for my $number (0 .. $#files) {
        my ($length, $path) = ($files[$number][0], "$top/$files[$number][1]");
        if (is_changed($number)) {
            put_all($path, O_WRONLY, \$new, $length);
            utime $younger, $younger, $path or die "$path: $!\n";
        }
        $place += $length;
    }
    return '';
}

# What is wrong with one file; empty if nothing is.
sub compare {
    my ($round, $length, $path) = @_;
    my $file = start("$top/$path", O_RDONLY | O_NONBLOCK);
    for (my $at = 0; $at < $length; $at += $CHUNK) {
        my $part = $length - $at < $CHUNK ? $length - $at : $CHUNK;
        get($path, $file, $part);
        return "$path: differs within $CHUNK bytes from byte $at\n"
            if $found ne substr $$round, ($place + $at) % $ROUND, $part;
    }
    return sysread($file, $found, 1) ? "$path: goes on after $length bytes\n" : '';
}

# The number of entries, and one that was not sent, or is neither folder nor file.
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

# A file system may return names in another Unicode form. A name that can be opened is there, if the number is right.
sub check {
    my ($count, $strange) = look_through();
    return $strange || "something is missing\n" if $count != @folders + @files;
    for (@folders) { return "$_: no folder\n" unless -d "$top/$_" }
    for my $number (0 .. $#files) {
        my $wrong = compare(is_changed($number) ? \$new : \$old, @{$files[$number]});
        return $wrong if $wrong;
        $place += $files[$number][0];
    }
    return '';
}

my %modes = (make => \&make, change => \&change, check => \&check);
my $wrong = $modes{$mode}->();
print $wrong || "as made\n";
