# Defines watch($interface, "ADDRESS PORT", then PINGs, one a line): starts a process that watches the server of a mount,
# and returns its id.
# A process that waits for a dead mount may wait forever, so the watch is another process and touches no mount. While
# bytes move through the interface, it only counts them. Once none move, it asks the server for a connection again and
# again. After two failures it prints "unanswered ADDRESS PORT" and ends; the reader of that line ends the transfer. This
# takes some 12 seconds from the last byte. The same if the server takes connections, and answers a smaller PING but not the
# first: a black hole.
use strict;
use warnings;
use Time::HiRes ();

my $BEGIN_S = 3;          # a transfer that is over by then is not looked at
my $LOOK_S = 1;
my $SHARE = 20;           # of the time, a look may take one part in so many: on a Mac it starts netstat
my $FLOWING = 10_000;     # bytes between two looks: a host has more to say than the transfer
my $QUIET_S = 4;          # a disk that flushes may take so long, and does no harm: then the server answers
my $ANSWER_S = 2;         # as long as two tries of TCP (RFC 6298: the second after a second)
my $FAILING_S = 3;        # from the first try to the end of the last: where one is refused at once, there are more

# Whether a ping gets no answer at all. One that is too large for the path says so, and then TCP sends less as well.
sub is_lost { my ($ping) = @_; my $said = `$ping 2>&1`; return $? && $said !~ /too (long|big)|[Ff]rag/ }

sub is_black_hole {
    my ($large, @smaller) = @_;
    return $large && is_lost($large) && is_lost($large) && grep { !is_lost($_) } @smaller;
}

sub watch {
    my ($interface, $watched) = @_;
    my ($server, @pings) = split /\n/, $watched;
    my $stopwatch = $$;
    defined(my $child = fork) or die "fork: $!\n";
    return $child if $child;
    Time::HiRes::sleep($BEGIN_S);
    my ($before, $moving, $failing, $failures, $answered, $took) = (moved($interface), now(), 0, 0, 0, 0);
    while (1) {
        Time::HiRes::sleep($took * $SHARE > $LOOK_S ? $took * $SHARE : $LOOK_S);
        exit if getppid != $stopwatch;
        my $start = now();
        my $moved = moved($interface);
        $took = now() - $start;
        if (abs($moved - $before) >= $FLOWING) { ($moving, $failures, $answered) = ($start, 0, 0) }
        $before = $moved;
        next if $start - $moving < $QUIET_S;
        if (answers(split(' ', $server), $ANSWER_S)) {
            last if ++$answered == 2 && is_black_hole(@pings);
            ($moving, $failures) = (now(), 0);
            next;
        }
        $failing = $start unless $failures++;
        last if $failures > 1 && now() - $failing >= $FAILING_S;
    }
    syswrite STDOUT, "unanswered $server\n";
    exit;
}

