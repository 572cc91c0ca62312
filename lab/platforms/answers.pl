# Defines answers($address, $port, $seconds): whether something accepts a TCP connection there within that time.
# IO::Socket::INET knows no IPv6.
use strict;
use warnings;

sub answers {
    my ($address, $port, $seconds) = @_;
    my $class = eval { require IO::Socket::IP; 'IO::Socket::IP' };
    if (!$class) { require IO::Socket::INET; $class = 'IO::Socket::INET' }
    return defined $class->new(PeerHost => $address, PeerPort => $port, Proto => 'tcp', Timeout => $seconds);
}

