# usage: metadata.pl lay|run|check PHASE TOP NAMES
# PHASE is create, stat, list, rename or delete, for the files of the tree at TOP. NAMES is a file, or standard input if
# empty, with lines "d PATH" and "f BYTES PATH": its folders and files below TOP.
# lay    creates TOP, which must be new, with its folders and, except for create, its files with their sizes but no data.
# run    does PHASE file by file (list: folder by folder), one call after another. A renamed file stays in its folder.
#        Returned sizes and names are compared after the last call. Prints "metadata PHASE CALLS", "runtime_s SECONDS" of
#        all calls, and "ms" with the median, the 95th, 99th and 99.9th percentile, and the longest of their times.
# check  prints "as it should be" if TOP holds exactly what the phase leaves, else what is wrong. No link is followed.
use strict;
use warnings;
use Fcntl;
use Time::HiRes ();

my ($mode, $phase, $top, $names) = @ARGV;
my (@folders, @files, @took);

# perl of macOS 10.6 to 10.11 lacks it, and even naming the function ends the program.
my $monotonic = eval { Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) > 0 };
sub now { return $monotonic ? Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) : Time::HiRes::time() }

sub read_names {
    my $lines = \*STDIN;
    if ($names ne '') { undef $lines; open $lines, '<', $names or die "$names: $!\n" }
    while (my $line = <$lines>) {
        if ($line =~ /^d (.+)\n/) { push @folders, $1 }
        if ($line =~ /^f (\d+) (.+)\n/) { push @files, [$1, $2] }
    }
}

# The name of a file after the rename.
sub renamed { my ($path, $number) = @_; return ($path =~ m{^(.*/)} ? $1 : '') . "renamed-$number" }

sub make_file {
    my ($path, $size) = @_;
    sysopen my $file, $path, O_WRONLY | O_CREAT | O_EXCL or die "$path: $!\n";
    !$size or truncate $file, $size or die "$path: $!\n";
    close $file or die "$path: $!\n";
}

sub lay {
    for (@files) { die "$$_[1]: a name that renaming gives\n" if $$_[1] =~ m{(?:^|/)renamed-\d+$} }
    for my $folder ($top, map { "$top/$_" } @folders) { mkdir $folder or die "$folder: $!\n" }
    for ($phase eq 'create' ? () : @files) { make_file("$top/$$_[1]", $$_[0]) }
}

sub list {
    my ($folder) = @_;
    opendir my $handle, $folder or die "$folder: $!\n";
    my @names = grep { !/^\.\.?$/ } readdir $handle;
    closedir $handle or die "$folder: $!\n";
    return \@names;
}

# Names beyond ASCII may come back in another Unicode form, so only their number is compared.
sub plain { return join '/', sort map { /[^\x00-\x7f]/ ? '' : $_ } @_ }

sub compare_lists {
    my %below = map { $_ => [] } '', @folders;
    for (@folders, map { $$_[1] } @files) {
        my ($folder, $name) = m{^(?:(.*)/)?(.*)$};
        push @{$below{$folder // ''}}, $name;
    }
    for my $folder ('', @folders) {
        my $listed = shift @_;
        die "$top/$folder: other names came back\n" if plain(@$listed) ne plain(@{$below{$folder}});
    }
}

sub compare_sizes {
    for (@files) {
        my $size = shift @_;
        die "$top/$$_[1]: it has $size bytes, not $$_[0]\n" if $size != $$_[0];
    }
}

# Make the same call with each path, and return the results.
sub perform {
    my ($call, @paths) = @_;
    my @results;
    for my $number (0 .. $#paths) {
        my $start = now();
        push @results, $call->($paths[$number], $number);
        push @took, now() - $start;
    }
    return @results;
}

my %calls = (
    create => sub { make_file($_[0], 0) },
    stat => sub { return (lstat $_[0])[7] // die "$_[0]: $!\n" },
    list => sub { return list($_[0]) },
    rename => sub { rename $_[0], renamed(@_) or die "$_[0]: $!\n" },
    delete => sub { unlink $_[0] or die "$_[0]: $!\n" },
);

sub run {
    my @paths = $phase eq 'list' ? ($top, map { "$top/$_" } @folders) : map { "$top/$$_[1]" } @files;
    my $begin = now();
    my @results = perform($calls{$phase}, @paths);
    my $runtime_s = now() - $begin;
    compare_sizes(@results) if $phase eq 'stat';
    compare_lists(@results) if $phase eq 'list';
    @took = sort { $a <=> $b } @took;
    my @places = map { int((@took * $_ + 999) / 1000) - 1 } 500, 950, 990, 999, 1000;
    printf "metadata %s %d\nruntime_s %.6f\nms %s\n", $phase, scalar @took, $runtime_s,
        join ' ', map { sprintf '%.6f', 1000 * $took[$_] } @places;
}

# The number of entries below the top, and one that should not be there.
sub look_through {
    my ($expected) = @_;
    my ($count, $strange, @left) = (0, '', '');
    while (@left) {
        my $folder = shift @left;
        for my $name (@{list("$top/$folder")}) {
            my $path = $folder eq '' ? $name : "$folder/$name";
            $count++;
            $strange ||= "$path: should not be there\n" unless exists $$expected{$path};
            push @left, $path if !-l "$top/$path" && -d _;
        }
    }
    return ($count, $strange);
}

# A name that can be asked for is there, if the number of entries is right: see plain().
sub check {
    my @left = $phase eq 'delete' ? () : map { $phase eq 'create' ? [0, $$_[1]] : $_ } @files;
    @left = map { [$left[$_][0], renamed($left[$_][1], $_)] } 0 .. $#left if $phase eq 'rename';
    my %expected = map { $_ => 1 } @folders, map { $$_[1] } @left;
    my ($count, $strange) = look_through(\%expected);
    return $strange || "something is missing\n" if $count != keys %expected;
    for (@folders) { return "$_: no folder\n" if -l "$top/$_" || !-d _ }
    for (@left) {
        my ($size, $path) = @$_;
        my @seen = lstat "$top/$path";
        return "$path: no file\n" unless @seen && -f _;
        return "$path: it has $seen[7] bytes, not $size\n" if $seen[7] != $size;
    }
    return "as it should be\n";
}

read_names();
if ($mode eq 'lay') { lay() }
elsif ($mode eq 'run') { run() }
else { print check() }
