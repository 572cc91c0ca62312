# usage: stopwatch.pl INTERFACE FLUSH SERVER [COMMAND ...]
# Prints "clock monotonic" ("clock wall" where this perl knows no better) and what the system counts, as lines
# "before|line". With a command also runs it, flushes the file FLUSH or each file below the folder FLUSH (none if empty) and prints the same of "after",
# "elapsed_s SECONDS", "tool_cpu_s SECONDS" (of the command and its children), "exit CODE", how it flushed, and what of
# elapsed_s that took: "flush_s SECONDS". What the command prints goes to standard error. Meanwhile it watches the mount's SERVER, "ADDRESS PORT", as server_watch.pl
# says (none if empty).
# A platform puts its own text in front of this one (linux/counts.pl, macos/counts.pl), which defines
# counts($when, $interface): the lines of what it counts. It dies where there is no such interface. For mounts it also
# defines moved($interface): the bytes of it, both ways.
# perl, because every Mac and nearly every Linux has it, and neither date nor time gives monotonic microseconds.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes ();

my $F_FULLFSYNC = 51;    # <sys/fcntl.h> of macOS; perl's Fcntl does not know it
my ($interface, $flush, $server, @command) = @ARGV;
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
    if (!$child) { open STDOUT, '>&', \*STDERR; exec { $command[0] } @command or die "$command[0]: $!\n" }
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

$report .= 'clock ' . ($monotonic ? 'monotonic' : 'wall') . "\n";
count('before');
if (@command) {
    my $watch = $server eq '' ? 0 : watch($interface, $server);
    my $used = children_cpu_s();
    my $start = now();
    my $exit = run();
    my $ended = now();
    my $flushed = "flushed none\n";
    if ($exit == 0 && $flush ne '') {
        $flushed = flush_all($flush);
        $flushed .= sprintf "flush_s %.6f\n", now() - $ended;
    }
    my $elapsed = now() - $start;
    $used = children_cpu_s() - $used;
    if ($watch) { kill KILL => $watch; waitpid $watch, 0 }
    count('after');
    $report .= sprintf "elapsed_s %.6f\ntool_cpu_s %.2f\nexit %d\n%s", $elapsed, $used, $exit, $flushed;
}
print $report;
