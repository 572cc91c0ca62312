# The counters of Linux as lines "PATH:line", for the stopwatch. The file "counted" beside it has the lines to keep, the
# peer and the paths. Processes and connections take longest to read: they are read before the first counters and after
# the last, so their cost is in neither.
use strict;
use warnings;

sub counts {
    my ($when, $interface) = @_;
    die "no interface $interface\n" unless -e "/sys/class/net/$interface";
    (my $list = $0) =~ s{[^/]*$}{counted};
    chomp(my ($kept, $peer, @paths) = lines($list));
    my $named = sub { map { my $path = $_; map { "$path:$_" } grep { /$kept/ } lines($path) } @_ };
    my @counts = $when eq 'after' ? $named->(@paths) : ();
    my @rest = ($named->(glob '/proc/[0-9]*/stat'), map { "ss:$_" } connections($peer));
    return (@counts ? @counts : $named->(@paths), @rest);
}

sub moved {
    my ($interface) = @_;
    my $bytes = 0;
    $bytes += (lines("/sys/class/net/$interface/statistics/${_}_bytes"))[0] || 0 for 'tx', 'rx';
    return $bytes;
}

# None where there is no ss: then perl would warn of it, in the place where the command's own words are looked for.
sub connections { local $SIG{__WARN__} = sub { }; return eval { printed('ss', '-tmin', 'dst', @_) } }

