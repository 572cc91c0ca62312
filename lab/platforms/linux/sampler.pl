# usage: sampler.pl FILE PEER KEPT PATH ...
# Appends samples to FILE until the folder of FILE is gone: ten a second while bytes move through the interface, else one.
# A sample is "@ SECONDS" since the start of this host, and "N:line" for each line of PATH number N that matches KEPT. Some
# also have "stat:" lines of processes that used CPU time, and "ss:" lines about connections to PEER. The first two paths
# are the byte counters.
use strict;
use warnings;
use Fcntl;
use Time::HiRes ();

my $BOOTTIME = 7;          # <linux/time.h>: the clock of /proc/uptime, which perl has no name for
my $TICK_S = 0.1;
my $IDLE_S = 1;
my $FLOWING = 10_000;      # bytes in a tick: 0.1 MB/s
my $CONNECTIONS_S = 0.2;   # ss takes about 4 ms, all in all; one that has ended is gone from it
my $PROCESSES_S = 0.4;
my $SHARE = 500;           # of the time, looking at all processes may take one part in so many: with many it is seldom
my $LARGEST = 4 << 20;     # bytes: nobody has read this file for long

my ($file, $peer, $kept, @paths) = @ARGV;
(my $folder = $file) =~ s{/[^/]*$}{};
$kept = qr/($kept.*)/m;
my @known = grep { -e $paths[$_] } 0 .. $#paths;
my (%seen, $text);

sub now { return Time::HiRes::clock_gettime($BOOTTIME) }

# In one read, for such a file is made as it is read; of those that are long, what counts comes first.
sub content {
    my ($path) = @_;
    my $content = '';
    sysopen my $handle, $path, O_RDONLY or return '';
    sysread $handle, $content, 1 << 16;
    return $content;
}

sub moved { my $sum = 0; $sum += $_ for map { content($_) =~ /^(\d+)/ } @paths[0, 1]; return $sum }

sub counts {
    for my $number (@known) {
        my $content = content($paths[$number]);
        $text .= "$number:$1\n" while $content =~ /$kept/g;
    }
}

# Up to the start of a process, which with its id tells it from every other one.
sub processes {
    for my $path (glob '/proc/[0-9]*/stat') {
        next unless content($path) =~ /^((\d+) \(.*\) \S (?:\S+ ){10}(\d+) (\d+) (?:\S+ ){6}\d+)/s;
        next if ($seen{$2} || 0) == $3 + $4;
        $seen{$2} = $3 + $4;
        $text .= "stat:$1\n";
    }
}

sub connections {
    local $SIG{__WARN__} = sub { };    # where there is no ss, perl would say so each time
    open my $pipe, '-|', 'ss', '-tmin', 'dst', $peer or return;
    $text .= "ss:$_" while <$pipe>;
}

sub append {
    my $flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | ((-s $file || 0) > $LARGEST ? O_TRUNC : 0);
    sysopen my $handle, $file, $flags or return;
    syswrite $handle, $text;
}

my ($before, $until, $idle, $processes, $asked, $moves, $pause) = (moved(), 0, 0, 0, 0, 0, 0);
for (my $tick = now(); -d $folder; $tick += $TICK_S) {
    my $start = now();
    $tick = $start if $tick < $start;    # late, or the host slept: what was missed stays missed
    my $moved = moved();
    $pause = $CONNECTIONS_S / 2 if !$moves and abs($moved - $before) > $FLOWING;
    $moves = abs($moved - $before) > $FLOWING;
    $until = $start + $IDLE_S if $moves;
    $before = $moved;
    if ($start < $until or $start >= $idle) {
        $text = sprintf "@ %.3f\n", now();
        counts();
        if ($start < $until and $start >= $processes) {
            my $began = Time::HiRes::clock();
            processes();
            my $rest_s = $SHARE * (Time::HiRes::clock() - $began);
            $processes = $start + ($rest_s > $PROCESSES_S ? $rest_s : $PROCESSES_S);
        }
        if ($start < $until and $start >= $asked + $pause) { connections(); ($asked, $pause) = ($start, $CONNECTIONS_S - $TICK_S / 2) }
        append();
        $idle = $start + $IDLE_S;
    }
    my $rest = $tick + $TICK_S - now();
    Time::HiRes::sleep($rest) if $rest > 0;
}
