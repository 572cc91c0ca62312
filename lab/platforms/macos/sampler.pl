# usage: sampler.pl FILE INTERFACE
# Appends samples to FILE until the folder of FILE is gone. A sample is "@ SECONDS" and lines "COMMAND:line".
# - While bytes move through the interface: what netstat says of it, four times a second.
# - With two of these a second: the CPU time of each process that used some, by ps.
# - Once a second, always: the row of iostat about that second, and the memory by vm_stat.
# iostat runs all the time and counts whole seconds. The others start anew each time: milliseconds, for ps tens of them.
use strict;
use warnings;
use Fcntl;
use Time::HiRes ();

my $LOOK_S = 0.25;
my $PROCESSES_S = 0.5;
my $IDLE_S = 1;
my $FLOWING = 10_000;     # bytes between two looks
my $SHARE = 20;           # of the time: netstat may take one part in so many, and ps another
my $LARGEST = 4 << 20;    # bytes: nobody has read this file for long
my ($file, $interface) = @ARGV;
(my $folder = $file) =~ s{/[^/]*$}{};
my (%used, $buffer);

# As in the stopwatch: its readings are laid beside these.
my $monotonic = eval { Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) > 0 };
sub now { return $monotonic ? Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) : Time::HiRes::time() }

sub lines_of {
    my ($kept, @command) = @_;
    open my $pipe, '-|', @command or die "$command[0]: $!\n";
    return map { "$command[0]:$_" } grep { /$kept/ } <$pipe>;
}

# Bytes both ways; columns are counted from the right, for the address may be missing.
sub count_bytes {
    no warnings 'numeric';
    my ($row) = grep { /<Link#/ } @_;
    my @fields = split ' ', $row || '';
    return @fields > 5 ? $fields[-5] + $fields[-2] : 0;
}

sub processes {
    my @lines = lines_of(qr/\d/, 'ps', '-A', '-o', 'pid=', '-o', 'time=', '-o', 'ucomm=');
    return grep { /^ps: *(\d+) +([\d:.]+) / && ($used{$1} || '') ne $2 && ($used{$1} = $2) } @lines;
}

# When to begin again what began at $start and has just ended: not sooner than after $every_s.
sub next_time {
    my ($start, $every_s) = @_;
    my $rest_s = $SHARE * (now() - $start);
    return $start + ($rest_s > $every_s ? $rest_s : $every_s);
}

# The next line of iostat, empty where none comes until then; undef at its end.
sub line_of {
    my ($iostat, $until) = @_;
    vec(my $watched = '', fileno $iostat, 1) = 1;
    while ($buffer !~ /\n/) {
        my $rest_s = $until - now();
        return '' unless select my $ready = $watched, undef, undef, $rest_s > 0 ? $rest_s : 0;
        sysread $iostat, $buffer, 4096, length $buffer or return undef;
    }
    $buffer =~ s/^(.*\n)//;
    return $1;
}

sub append {
    my ($text) = @_;
    my $flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | ((-s $file || 0) > $LARGEST ? O_TRUNC : 0);
    sysopen my $handle, $file, $flags or return;
    syswrite $handle, $text;
}

open my $iostat, '-|', 'iostat', '-w', '1' or die "iostat: $!\n";
append('');
$buffer = '';
my ($rows, $look, $processes, $flows_until, $before) = (0, 0, 0, 0);
while (-d $folder) {
    defined(my $row = line_of($iostat, $look)) or last;
    $row = '' unless $row =~ /^[\d.\s]+$/ and $rows++;    # the first row is about all the time since the Mac started
    my $start = now();
    next if $row eq '' and $start < $look;
    my @lines = lines_of(qr/^Name|<Link#/, 'netstat', '-I', $interface, '-b', '-n');
    my ($at, $moved) = (now(), count_bytes(@lines));
    $look = next_time($start, $LOOK_S);
    $flows_until = $start + $IDLE_S if defined $before and abs($moved - $before) > $FLOWING;
    $before = $moved;
    next if $row eq '' and $start > $flows_until;
    if ($start < $flows_until and $start >= $processes) {
        my $began = now();
        push @lines, processes();
        $processes = next_time($began, $PROCESSES_S);
    }
    my $memory = qr/page size|^Pages (free|inactive|speculative)|outs:/;
    push @lines, "iostat:$row", lines_of($memory, 'vm_stat') if $row ne '';
    append(join '', sprintf("@ %.3f\n", $at), @lines) if @lines;    # there are none where the interface is gone
}
