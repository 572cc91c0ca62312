# usage: stopwatch.pl INTERFACE FLUSH SERVER START [COMMAND ...]
# Prints "clock monotonic" ("clock wall" if this perl has no better clock), and the counters as lines "before|line".
# With a command, runs it, flushes the file FLUSH or each file below the folder FLUSH (none if empty), and prints the
# counters "after", "elapsed_s SECONDS", "tool_cpu_s SECONDS" (of the command and its children), "exit CODE", how it
# flushed, and "flush_s SECONDS", which is part of elapsed_s. The command's output goes to standard error. Meanwhile
# server_watch.pl watches the mount's SERVER, "ADDRESS PORT" (none if empty).
# START is empty, or "together" for a command that starts at the same time as others on other hosts. Then the stopwatch
# prints "ready SECONDS", the time that counting takes. It answers each line of standard input with "now SECONDS" by its
# clock, and starts the command when its clock shows the SECONDS of a line "start SECONDS". Before "end of report" it
# prints "started SECONDS", "ended SECONDS" (flush included) and "samples_ahead SECONDS", by which the clock of the
# samples is ahead; then it answers lines until there are no more.
# A platform puts its own text first (linux/counts.pl, macos/counts.pl). That defines counts($when, $interface), the lines
# of counters, which dies if there is no such interface; for mounts also moved($interface), the bytes in both directions.
# In perl, because neither date nor time gives monotonic microseconds.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes ();

my $BOOTTIME = 7;        # <linux/time.h>: the clock of /proc/uptime
my $F_FULLFSYNC = 51;    # <sys/fcntl.h> of macOS; perl's Fcntl does not know it
my ($interface, $flush, $server, $start, @command) = @ARGV;
my $mac = $^O eq 'darwin';
my $report = '';

# The perl of macOS 10.6 to 10.11 was built without it, and then even naming the function ends the program.
my $monotonic = eval { Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) > 0 };
sub now { return $monotonic ? Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) : Time::HiRes::time() }

sub lines { my ($path) = @_; open my $file, '<', $path or return (); return <$file> }

# What a command prints. The list goes to the program as it is: no shell sees it.
sub printed { open my $pipe, '-|', @_ or die "$_[0]: $!\n"; return <$pipe> }

sub count { my ($when) = @_; $report .= join '', map { "$when|$_" } counts($when, $interface) }

# CPU seconds of all children that have ended, and theirs.
sub children_cpu_s { my (undef, undef, $user, $system) = times; return $user + $system }

sub run {
    my $child = fork;
    die "fork: $!\n" unless defined $child;
    # what is said on standard input is for the stopwatch
    if (!$child) { open STDIN, '<', '/dev/null'; open STDOUT, '>&', \*STDERR; exec { $command[0] } @command or die "$command[0]: $!\n" }
    waitpid $child, 0;
    return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

# Adds to the report how the file was flushed, why not better, and what went wrong. On macOS fsync may leave the data in
# the memory of the drive or of the server, which F_FULLFSYNC does not; a file system that does not offer it refuses, and
# then fsync is all there is. Over SMB a Mac's fsync of a file that is open for reading alone succeeds and sends nothing
# (smbfs_smb_fsync of SMBClient-231 to -494), so there it is opened for writing; where that is refused, fsync proves
# nothing.
sub flush_file {
    my ($path) = @_;
    my $file;
    my $unwritable = $mac && !open($file, '+<', $path) ? "it cannot be opened for writing: $!" : '';
    if ((!$mac || $unwritable) && !open $file, '<', $path) {
        return "flushed none\nflush_error cannot open $path to flush it: $!\n";
    }
    return "flushed F_FULLFSYNC\n" if $mac && fcntl $file, $F_FULLFSYNC, 0;
    my $reason = $unwritable || ($mac ? "F_FULLFSYNC: $!" : '');
    return "flushed none\nflush_error cannot flush $path: $!\n" unless $file->sync;
    return 'flushed ' . ($unwritable ? 'none' : 'fsync') . "\n" . ($reason && "flush_reason $reason\n");
}

# The same of each file below a folder: the first that went wrong, or the worst way that one was flushed in.
sub flush_all {
    my @left = @_;
    my %ways;
    while (defined(my $path = shift @left)) {
        if (!-d $path || -l $path) {
            my $way = flush_file($path);
            return $way if $way =~ /^flush_error/m;
            $ways{$way} = 1;
            next;
        }
        opendir my $names, $path or return "flushed none\nflush_error cannot open $path to flush it: $!\n";
        push @left, map { "$path/$_" } grep { !/^\.\.?$/ } readdir $names;
    }
    return (sort keys %ways)[-1] // "flushed none\n";    # as words, F_FULLFSYNC is before fsync, and that before none
}

# Answers with the time until it is told when to start, and says when that is. Whoever said nothing has gone.
sub hear_start {
    while (defined(my $line = <STDIN>)) {
        return $1 if $line =~ /^start ([0-9]+\.[0-9]+)$/;
        printf "now %.6f\n", now();
    }
    exit 1;
}

sub sleep_until {
    my ($at) = @_;
    while ((my $left = $at - now()) > 0) { Time::HiRes::sleep($left > 0.004 ? $left - 0.003 : 0.0002) }
}

my $at = 0;
if ($start ne '') {
    $| = 1;
    my $began = now();
    counts('before', $interface);
    printf "ready %.6f\n", now() - $began;
    $at = hear_start();
}
$report .= 'clock ' . ($monotonic ? 'monotonic' : 'wall') . "\n";
count('before');
if (@command) {
    my $watch = $server eq '' ? 0 : watch($interface, $server);
    my $used = children_cpu_s();
    sleep_until($at);
    my $started = now();
    my $exit = run();
    my $ended = now();
    my $flushed = "flushed none\n";
    if ($exit == 0 && $flush ne '') {
        $flushed = flush_all($flush);
        $flushed .= sprintf "flush_s %.6f\n", now() - $ended;
    }
    my $elapsed = now() - $started;
    $used = children_cpu_s() - $used;
    if ($watch) { kill KILL => $watch; waitpid $watch, 0 }
    count('after');
    $report .= sprintf "elapsed_s %.6f\ntool_cpu_s %.2f\nexit %d\n%s", $elapsed, $used, $exit, $flushed;
    if ($start ne '') {
        my $ahead = $mac ? 0 : Time::HiRes::clock_gettime($BOOTTIME) - now();
        $report .= sprintf "started %.6f\nended %.6f\nsamples_ahead %.6f\n", $started, $started + $elapsed, $ahead;
    }
}
print $report;
if ($start ne '') {
    print "end of report\n";
    while (defined(my $line = <STDIN>)) { printf "now %.6f\n", now() }
}
