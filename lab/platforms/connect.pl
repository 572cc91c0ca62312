# usage: connect.pl ADDRESS PORT
# Prints "yes" where something takes TCP connections there, else "no". IO::Socket::INET knows no IPv6.
use strict;
use warnings;
my $class = eval { require IO::Socket::IP; 'IO::Socket::IP' };
if (!$class) { require IO::Socket::INET; $class = 'IO::Socket::INET' }
my $socket = $class->new(PeerHost => $ARGV[0], PeerPort => $ARGV[1], Proto => 'tcp', Timeout => 3);
print $socket ? "yes\n" : "no\n";
