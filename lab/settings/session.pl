# Become the command in the arguments, in a session of its own.
use strict; use warnings; use POSIX 'setsid';
setsid();
exec @ARGV or die "$ARGV[0]: $!\n";
