# usage: frames.pl STREAMS FRAME_BYTES FRAMES_PER_S SOURCE TARGET
# Copy SOURCE to the new file TARGET as streams of video at once, each a part of both files. A frame begins at its turn,
# and is late unless it has been read and written before the next one's. A late frame is still copied, and the next one
# follows at once. Prints "frames COUNT", "late COUNT" and "worst_s SECONDS", the largest lateness.
use strict;
use warnings;
use Fcntl;
use Time::HiRes ();

my $BEGIN_S = 0.2;    # until all streams are ready
my ($streams, $frame_bytes, $frames_per_s, $source, $target) = @ARGV;

# perl of macOS 10.6 to 10.11 lacks it, and even naming the function ends the program.
my $monotonic = eval { Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) > 0 };
sub now { return $monotonic ? Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) : Time::HiRes::time() }

sub start { my ($path, $flags) = @_; sysopen my $file, $path, $flags or die "$path: $!\n"; return $file }

sub copy {
    my ($from, $to, $length) = @_;
    my $frame = '';
    while (length $frame < $length) {
        my $count = sysread $from, $frame, $length - length $frame, length $frame;
        die "$source: $!\n" unless defined $count;
        die "$source: it became shorter\n" if $count == 0;
    }
    for (my $at = 0; $at < $length;) {
        my $count = syswrite $to, $frame, $length - $at, $at;
        die "$target: $!\n" unless defined $count;
        $at += $count;
    }
}

# Play one stream, the bytes from one place to another. Returns its frames, the late ones, and the largest lateness.
sub play {
    my ($at, $end, $begin) = @_;
    my ($from, $to, $frames, $late, $worst) = (start($source, O_RDONLY), start($target, O_WRONLY), 0, 0, 0);
    defined sysseek $from, $at, 0 or die "$source: $!\n";
    defined sysseek $to, $at, 0 or die "$target: $!\n";
    for (; $at < $end; $at += $frame_bytes) {
        my $early = $begin + $frames / $frames_per_s - now();
        Time::HiRes::sleep($early) if $early > 0;
        copy($from, $to, $end - $at < $frame_bytes ? $end - $at : $frame_bytes);
        $frames++;
        my $lateness = now() - $begin - $frames / $frames_per_s;
        if ($lateness > 0) { $late++; $worst = $lateness if $lateness > $worst }
    }
    close $to or die "$target: $!\n";
    return "$frames $late $worst\n";
}

my $size = -s start($source, O_RDONLY);
close start($target, O_WRONLY | O_CREAT | O_EXCL) or die "$target: $!\n";
my $each = $frame_bytes * int((int(($size + $frame_bytes - 1) / $frame_bytes) + $streams - 1) / $streams);
my ($begin, @players) = (now() + $BEGIN_S);
for my $number (0 .. $streams - 1) {
    my ($at, $end) = ($number * $each, ($number + 1) * $each < $size ? ($number + 1) * $each : $size);
    defined(my $pid = open my $player, '-|') or die "fork: $!\n";
    if (!$pid) { print play($at, $end, $begin); exit }
    push @players, $player;
}
my ($frames, $late, $worst) = (0, 0, 0);
for my $player (@players) {
    my ($played, $late_ones, $lateness) = split ' ', join '', <$player>;
    close $player or exit 1;
    ($frames, $late) = ($frames + $played, $late + $late_ones);
    $worst = $lateness if $lateness > $worst;
}
printf "frames %d\nlate %d\nworst_s %.6f\n", $frames, $late, $worst;
