# The guard of a lease: it undoes a run's changes of this host once it has heard nothing of the run for the whole lease.
# usage: PLACE SECONDS ACCOUNT STRIKE SEIZE RELEASE. PLACE is the folder of the host journal as passed to other scripts,
# ACCOUNT the caller of sudo, and the last three are scripts. The current folder is the host journal. Standard input is a
# line with the run, then records. Later records and signs of life come through the socket.
#
# Records are kept in memory only, because files could be swapped. From files the guard learns only the run in the lock,
# whether a record still exists, and whether the socket is its own.
#
# It prints its number and goes into the background. It adds up its waits instead of reading a clock, so that setting a
# clock, or a sleep of this host, ends no lease.
use strict; use warnings; use POSIX 'setsid'; use Socket;
my ($place, $lease_s, $account, $strike, $seize, $release) = @ARGV;
my ($LONGEST_TICK_S, $ROUNDS, $PAUSE_S, $PATIENCE_S) = (5, 4, 15, 10);
my @records;
$0 = 'file-share-lab: lease';
$SIG{PIPE} = 'IGNORE';

chomp(my $run = <STDIN>);
open my $lock, '<', 'lock' or die "no lock: $!\n";
<$lock> =~ /^\Q$run\E / or die "too late: this host puts it back already\n";
close $lock;
learn(do { local $/; <STDIN> });
umask 077;
unlink 'lease.socket';
socket my $server, PF_UNIX, SOCK_STREAM, 0 or die "socket: $!\n";
bind $server, sockaddr_un('lease.socket') and listen $server, 9 or die "lease.socket: $!\n";
my $own = (stat 'lease.socket')[1];
$| = 1;
defined(my $guard = fork) or die "fork: $!\n";
if ($guard) { print "$guard\n"; POSIX::_exit(0) }
setsid();
open STDIN, '<', '/dev/null';
open STDOUT, '>', '/dev/null';
open STDERR, '>', '/dev/null';
$SIG{HUP} = 'IGNORE';
wait_for_silence();
close $server;
put_back() if has_seized();
exit;

# A message has records; an empty one is a sign of life. A record has its name, whether it holds later ones, the old value
# and the number of commands; each command has a flag for the account, a deadline, its standard input and its line. The
# first command reads the value.
sub learn {
    my @words = split /\0/, $_[0], -1;
    pop @words;
    while (@words) {
        my ($name, $holds, $old, $count) = splice @words, 0, 4;
        my @steps = map { [splice @words, 0, 4] } 1 .. $count;
        @records = grep { $_->{name} ne $name && -e $_->{name} } @records;
        push @records, { name => $name, holds => $holds, old => $old, read => shift @steps, undo => \@steps };
    }
}

# Return once the run has been silent for the whole lease; exit if another guard, or none, is wanted.
sub wait_for_silence {
    my $tick_s = $lease_s / 40 < $LONGEST_TICK_S ? $lease_s / 40 : $LONGEST_TICK_S;
    my $silent_s = 0;
    while ($silent_s < $lease_s) {
        my $ready = '';
        vec($ready, fileno $server, 1) = 1;
        if (select($ready, undef, undef, $tick_s) > 0) { $silent_s = 0 if listen_once() } else { $silent_s += $tick_s }
        my $socket = (stat 'lease.socket')[1];
        exit unless defined $socket && $socket == $own;
    }
}

sub listen_once {
    accept my $client, $server or return 0;
    my $message = in_time($PATIENCE_S, sub { local $/; <$client> });
    return 0 unless defined $message && $message =~ s/\.\z//;
    learn($message);
    syswrite $client, "kept\n";
    return 1;
}

# Seize the lock, while nobody else can read or take it.
sub has_seized {
    open my $folder, '<', '.' or return 0;
    flock $folder, 2;
    my $answer = script($seize, "$run\n$$\n");
    return defined $answer && $answer eq 'seized';
}

# Newest first, as `lab restore` does. A failure stops only records that hold others. It is tried again, because the other
# host may be in the way.
sub put_back {
    my %failed;
    for my $round (1 .. $ROUNDS) {
        %failed = ();
        for my $record (reverse @records) {
            next unless -e $record->{name};
            if ($record->{holds} && %failed || !is_back($record)) { $failed{ $record->{name} } = $record; next }
            # a later failed one of the same thing would now restore a wrong value
            my @same = grep { $failed{ $_->{name} } && $_->{read}[3] eq $record->{read}[3] } @records;
            delete $failed{ $_->{name} } for @same;
            script($strike, join '', map { "$_->{name}\n" } $record, @same);
        }
        last unless %failed;
        sleep $PAUSE_S if $round < $ROUNDS;
    }
    unlink 'lease', 'lease.socket';
    script($release, "lapsed\n");
}

sub is_back {
    my ($record) = @_;
    my $value = run(@{ $record->{read} });
    return 0 unless defined $value;
    return 1 if $value eq $record->{old};
    run(@$_) for @{ $record->{undo} };
    $value = run(@{ $record->{read} });
    return defined $value && $value eq $record->{old};
}

sub script { return run(0, 60, $_[1], undef, $_[0]) }

# Run a line, or a script of the lab's; returns its output, stripped, or nothing if it did not end in time.
sub run {
    my ($as_account, $deadline_s, $given, $line, $script) = @_;
    pipe my $input, my $feed or return;
    pipe my $output, my $print or return;
    defined(my $pid = fork) or return;
    if (!$pid) {
        setpgrp 0, 0;
        close $feed;
        open STDIN, '<&', $input;
        open STDOUT, '>&', $print;
        close $_ for $input, $print;
        become_account() if $as_account && $account ne '';
        exec '/bin/sh', '-c', defined $script ? ($script, 'sh', $place) : $line or POSIX::_exit(127);
    }
    close $input;
    close $print;
    syswrite $feed, $given;
    close $feed;
    my $text = in_time($deadline_s, sub { local $/; <$output> });
    kill KILL => -$pid unless defined $text;
    waitpid $pid, 0;
    $text =~ s/\A\s+|\s+\z//g if defined $text;
    return $text;
}

sub in_time {
    my ($seconds, $act) = @_;
    my $result = eval {
        local $SIG{ALRM} = sub { die "too late\n" };
        alarm $seconds;
        my $result = $act->();
        alarm 0;
        defined $result ? $result : '';
    };
    alarm 0;
    return $result;
}

sub become_account {
    my ($name, $group, $home) = (getpwuid $account)[0, 3, 7];
    $) = "$group $group";
    $( = $group;
    ($<, $>) = ($account, $account);
    POSIX::_exit(126) if $< != $account || $> != $account;
    @ENV{qw(HOME USER LOGNAME)} = ($home, $name, $name);
}
