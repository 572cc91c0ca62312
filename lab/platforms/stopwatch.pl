# usage: stopwatch.pl INTERFACE FLUSH [COMMAND ...]
# Prints "clock monotonic" ("clock wall" where this perl knows no better) and "before.NAME VALUE" for each counter that
# this system has and for what is in effect (state.NAME); with a command also runs it, flushes the file FLUSH (none if
# empty) and prints "after.NAME VALUE", "elapsed_s SECONDS", "exit CODE" and how it flushed. What the command prints goes
# to standard error.
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

# CPU seconds in use: of this host's control group (of the whole machine at its root), else from the kernel's ticks.
sub cpu_seconds {
    for my $line (lines('/sys/fs/cgroup/cpu.stat')) { return $1 / 1e6 if $line =~ /^usage_usec (\d+)/ }
    for my $line (lines('/proc/stat')) {
        return ($1 + $2 + $3 + $4 + $5) / 100 if $line =~ /^cpu +(\d+) (\d+) (\d+) \d+ \d+ (\d+) (\d+)/;
    }
    return undef;
}

sub linux_counters {
    my %value = (cpu_s => cpu_seconds());
    ($value{$_}) = lines("/sys/class/net/$interface/statistics/$_") for 'tx_bytes', 'rx_bytes';
    ($value{"state.$_"}) = lines("/proc/sys/net/ipv4/$_") for 'tcp_rmem', 'tcp_wmem';
    ($value{'state.mtu'}) = lines("/sys/class/net/$interface/mtu");
    my ($names, $values) = grep { /^Tcp:/ } lines('/proc/net/snmp');
    my %tcp; @tcp{split ' ', $names} = split ' ', $values;
    $value{retransmits} = $tcp{RetransSegs};
    return %value;
}

# What a command prints. The list goes to the program as it is: no shell sees it.
sub printed { open my $pipe, '-|', @_ or die "$_[0]: $!\n"; return <$pipe> }

# No command of macOS prints the CPU's ticks, and its TCP counts read as zero unless root asks: better none than wrong.
# The row named <Link#N> counts the whole interface. Its address may be missing, so columns are named from the right.
sub mac_counters {
    my ($head, @rows) = printed('netstat', '-I', $interface, '-b', '-n');
    my ($row) = grep { /<Link#\d+>/ } @rows;
    return () unless defined $row;
    my %column; @column{reverse split ' ', $head} = reverse split ' ', $row;
    my %value = (tx_bytes => $column{Obytes}, rx_bytes => $column{Ibytes}, 'state.mtu' => (split ' ', $row)[1]);
    for my $name ('sendspace', 'recvspace') { ($value{"state.$name"}) = printed('sysctl', '-n', "net.inet.tcp.$name") }
    return %value;
}

sub count {
    my ($when) = @_;
    my %value = $mac ? mac_counters() : linux_counters();
    chomp(%value = map { $_ => $value{$_} } grep { defined $value{$_} } keys %value);
    for my $name ('tx_bytes', 'rx_bytes') {
        die "no interface $interface\n" unless defined $value{$name};
        die "$interface: no count of bytes: $value{$name}\n" unless $value{$name} =~ /^\d+$/;
    }
    $report .= "$when.$_ $value{$_}\n" for sort keys %value;
}

sub run {
    my $child = fork;
    die "fork: $!\n" unless defined $child;
    if (!$child) { open STDOUT, '>&', \*STDERR; exec { $command[0] } @command or die "$command[0]: $!\n" }
    waitpid $child, 0;
    return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

# How it flushed, and what went wrong. On macOS fsync may leave the data in the memory of the drive or of the server,
# which F_FULLFSYNC does not; a file system that does not offer it refuses, and then fsync is all there is.
sub flush_file {
    return ('none', undef) if $flush eq '';
    open my $file, '<', $flush or return ('none', "cannot open $flush to flush it: $!");
    return ('F_FULLFSYNC', undef) if $mac && fcntl $file, $F_FULLFSYNC, 0;
    return $file->sync ? ('fsync', undef) : ('none', "cannot flush $flush: $!");
}

$report .= 'clock ' . ($monotonic ? 'monotonic' : 'wall') . "\n";
count('before');
if (@command) {
    my $start = now();
    my $exit = run();
    my ($flushed, $error) = $exit == 0 ? flush_file() : ('none', undef);
    my $elapsed = now() - $start;
    count('after');
    $report .= sprintf "elapsed_s %.6f\nexit %d\nflushed %s\n", $elapsed, $exit, $flushed;
    $report .= "flush_error $error\n" if defined $error;
}
print $report;
