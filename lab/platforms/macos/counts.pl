# The counters of macOS as lines "NAME:line", for the stopwatch. The bytes of the interface and the clock are read next to
# the transfer. ps gives the CPU time of each process, with which the sampler's figures begin.
use strict;
use warnings;

sub counts {
    my ($when, $interface) = @_;
    my @asked = (['sysctl', 'sysctl', 'net.inet.tcp.sendspace', 'net.inet.tcp.recvspace']);
    push @asked, ['interfaces', 'netstat', '-i', '-b', '-n'], ['vm_stat', 'vm_stat'];
    push @asked, ['ps', 'ps', '-A', '-o', 'pid=', '-o', 'time=', '-o', 'ucomm='];
    push @asked, ['netstat', 'netstat', '-I', $interface, '-b', '-n'], ['clock'];
    my @lines;
    for my $command ($when eq 'after' ? reverse @asked : @asked) {
        my ($name, @words) = @$command;
        push @lines, map { "$name:$_" } @words ? printed(@words) : sprintf("%.6f\n", now());
    }
    die "no interface $interface\n" unless grep { /^netstat:.*<Link#\d+>/ } @lines;
    return @lines;
}

# Columns are counted from the right, for the address may be missing.
sub moved {
    no warnings 'numeric';
    my ($row) = grep { /<Link#/ } printed('netstat', '-I', $_[0], '-b', '-n');
    my @fields = split ' ', $row || '';
    return @fields > 5 ? $fields[-5] + $fields[-2] : 0;
}

