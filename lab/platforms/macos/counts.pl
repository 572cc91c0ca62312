# What macOS counts, as lines "COMMAND:line", for the stopwatch that follows this text. The bytes of the interface stand
# next to the transfer, and the clock. ps gives the CPU time of each process, with which the sampler's begin.
use strict;
use warnings;

sub counts {
    my ($when, $interface) = @_;
    my @asked = (['sysctl', 'net.inet.tcp.sendspace', 'net.inet.tcp.recvspace'], ['vm_stat']);
    push @asked, ['ps', '-A', '-o', 'pid=', '-o', 'time=', '-o', 'ucomm='];
    push @asked, ['netstat', '-I', $interface, '-b', '-n'], ['clock'];
    my @lines;
    for my $command ($when eq 'after' ? reverse @asked : @asked) {
        my $name = $command->[0];
        push @lines, map { "$name:$_" } $name eq 'clock' ? sprintf("%.6f\n", now()) : printed(@$command);
    }
    die "no interface $interface\n" unless grep { /^netstat:.*<Link#\d+>/ } @lines;
    return @lines;
}

