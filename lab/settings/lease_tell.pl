# tell_guard(MESSAGE): send a message to the guard of the lease in this folder; an empty one is a sign of life. Returns
# "kept\n", or "gone\n" if no guard listens.
use Socket;
sub tell_guard {
    my ($message) = @_;
    local ($SIG{PIPE}, $SIG{ALRM}) = ('IGNORE', sub { die "the guard of the lease does not answer\n" });
    alarm 20;
    socket my $guard, PF_UNIX, SOCK_STREAM, 0 or return "gone\n";
    connect $guard, sockaddr_un('lease.socket') or return "gone\n";
    { my $before = select $guard; $| = 1; select $before }
    print $guard $message, '.';
    shutdown $guard, 1;
    my $answer = <$guard>;
    return defined $answer ? $answer : "gone\n";
}
