# What macOS counts, as lines "NAME:line", for the stopwatch that follows this text. The bytes of the interface stand
# next to the transfer, and the clock.
use strict;
use warnings;

sub counts {
    my ($when, $interface) = @_;
    my @asked = (['interfaces', 'netstat', '-i', '-b', '-n'], ['vm_stat', 'vm_stat']);
    unshift @asked, ['sysctl', 'sysctl', 'net.inet.tcp.sendspace', 'net.inet.tcp.recvspace'];
    push @asked, ['netstat', 'netstat', '-I', $interface, '-b', '-n'], ['clock'];
    my @lines;
    for my $command ($when eq 'after' ? reverse @asked : @asked) {
        my ($name, @words) = @$command;
        push @lines, map { "$name:$_" } @words ? printed(@words) : sprintf("%.6f\n", now());
    }
    die "no interface $interface\n" unless grep { /^netstat:.*<Link#\d+>/ } @lines;
    return @lines;
}

