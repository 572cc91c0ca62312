# usage: stopwatch.pl INTERFACE FLUSH [COMMAND ...]
# Prints "clock monotonic" ("clock wall" where this perl knows no better) and what the system counts: on Linux lines
# "before|PATH:line", on macOS "before|COMMAND:line". With a command also runs it, flushes the file FLUSH (none if empty)
# and prints the same of "after", "elapsed_s SECONDS", "tool_cpu_s SECONDS" (of the command and its children), "exit CODE"
# and how it flushed. What the command prints goes to standard error.
# perl, because every Mac and nearly every Linux has it, and neither date nor time gives monotonic microseconds.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes ();

my $F_FULLFSYNC = 51;    # <sys/fcntl.h> of macOS; perl's Fcntl does not know it
my ($interface, $flush, @command) = @ARGV;
my $mac = $^O eq 'darwin';
my $report = '';

# The perl of macOS 10.6 to 10.11 was built without it, and then even naming the function ends the program.
my $monotonic = eval { Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) > 0 };
sub now { return $monotonic ? Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) : Time::HiRes::time() }

sub lines { my ($path) = @_; open my $file, '<', $path or return (); return <$file> }

# What a command prints. The list goes to the program as it is: no shell sees it.
sub printed { open my $pipe, '-|', @_ or die "$_[0]: $!\n"; return <$pipe> }

# What Linux counts, as lines "PATH:line" for others to read. A file beside this one says which of its lines count, who
# the peer is, and which files. Processes and connections take longest: what they cost is kept out of the other counts.
sub linux_counts {
    my ($when) = @_;
    (my $list = $0) =~ s{[^/]*$}{counted};
    chomp(my ($kept, $peer, @paths) = lines($list));
    my $named = sub { map { my $path = $_; map { "$path:$_" } grep { /$kept/ } lines($path) } @_ };
    my @counts = $when eq 'after' ? $named->(@paths) : ();
    my @rest = ($named->(glob '/proc/[0-9]*/stat'), map { "ss:$_" } connections($peer));
    return (@counts ? @counts : $named->(@paths), @rest);
}

# None where there is no ss: then perl would warn of it, in the place where the command's own words are looked for.
sub connections { local $SIG{__WARN__} = sub { }; return eval { printed('ss', '-tmin', 'dst', @_) } }

# What macOS counts, as lines "COMMAND:line". The bytes of the interface stand next to the transfer, and the clock.
sub mac_counts {
    my ($when) = @_;
    my @asked = (['sysctl', 'net.inet.tcp.sendspace', 'net.inet.tcp.recvspace'], ['vm_stat']);
    push @asked, ['netstat', '-I', $interface, '-b', '-n'], ['clock'];
    my @lines;
    for my $command ($when eq 'after' ? reverse @asked : @asked) {
        my $name = $command->[0];
        push @lines, map { "$name:$_" } $name eq 'clock' ? sprintf("%.6f\n", now()) : printed(@$command);
    }
    die "no interface $interface\n" unless grep { /^netstat:.*<Link#\d+>/ } @lines;
    return @lines;
}

sub count {
    my ($when) = @_;
    die "no interface $interface\n" unless $mac or -e "/sys/class/net/$interface";
    $report .= join '', map { "$when|$_" } $mac ? mac_counts($when) : linux_counts($when);
}

# CPU seconds of all children that have ended, and theirs.
sub children_cpu_s { my (undef, undef, $user, $system) = times; return $user + $system }

sub run {
    my $child = fork;
    die "fork: $!\n" unless defined $child;
    if (!$child) { open STDOUT, '>&', \*STDERR; exec { $command[0] } @command or die "$command[0]: $!\n" }
    waitpid $child, 0;
    return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

# Adds to the report how the file was flushed, and what went wrong. On macOS fsync may leave the data in the memory of
# the drive or of the server, which F_FULLFSYNC does not; a file system that does not offer it refuses, and then fsync is
# all there is.
sub flush_file {
    return "flushed none\n" if $flush eq '';
    open my $file, '<', $flush or return "flushed none\nflush_error cannot open $flush to flush it: $!\n";
    return "flushed F_FULLFSYNC\n" if $mac && fcntl $file, $F_FULLFSYNC, 0;
    my $refused = $mac ? "fullfsync_error $!\n" : '';
    return $file->sync ? "flushed fsync\n$refused" : "flushed none\nflush_error cannot flush $flush: $!\n";
}

$report .= 'clock ' . ($monotonic ? 'monotonic' : 'wall') . "\n";
count('before');
if (@command) {
    my $used = children_cpu_s();
    my $start = now();
    my $exit = run();
    my $flushed = $exit == 0 ? flush_file() : "flushed none\n";
    my $elapsed = now() - $start;
    $used = children_cpu_s() - $used;
    count('after');
    $report .= sprintf "elapsed_s %.6f\ntool_cpu_s %.2f\nexit %d\n%s", $elapsed, $used, $exit, $flushed;
}
print $report;
