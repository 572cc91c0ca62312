# usage: ACCOUNT SIGNAL TARGET [START]. Sends a signal with only the rights of the account: the kernel protects processes of
# others. TARGET is a process, or a group with - before its number.
#
# CONT follows TERM, because a stopped process does not end before. With START, a process gets the signal only if it started
# then. Linux (from 5.3 on) keeps a handle from before this check (pidfd). Elsewhere the number might go to another process
# of the account in between.
use strict; use warnings; use POSIX ();
my ($account, $signal, $target, $start) = @ARGV;
my $numbers = { TERM => [15, POSIX::SIGCONT()], KILL => [9] }->{$signal} or die "no signal: $signal\n";
"$account $target" =~ /\A[0-9]{1,10} -?[1-9][0-9]{0,9}\z/ && abs $target > 1 or die "no process: $target of $account\n";
my $handle = defined $start && $^O eq 'linux' ? syscall(434, $target + 0, 0) : -1;  # pidfd_open
exit 1 if defined $start && $start ne started();
$> == $account or POSIX::setuid($account) or die "setuid: $!\n";
my @sent = grep { $handle < 0 ? kill $_, $target : syscall(424, $handle, $_, 0, 0) == 0 } @$numbers;  # pidfd_send_signal
exit !@sent;

sub started {
    return join ' ', split ' ', `ps -o lstart= -p $target` unless -d '/proc/self';
    open my $stat, '<', "/proc/$target/stat" or return '';
    my ($fields) = do { local $/; <$stat> } =~ /.*\) (.*)/s;
    return (split ' ', $fields)[19];
}
