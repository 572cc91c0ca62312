# The only program that a narrow sudo allows. Root owns it, and it runs only commands in its table.
# docs/explanation/security.md describes them, and what somebody with the account can do with them.
#
# `lab host install` adds the table, made from the lab's code: the words of each command. A word is a literal text (scripts
# too), or a reference to a template with {types}. Commands are built from the table's texts and from values that match a
# type; perl's taint checks (-T) stop anything else.
#
# It starts once for each command, and loading modules would take longer than its work: so -w replaces `use warnings`, and
# rarely needed modules are loaded on use. Parts for each system are in root_helper_linux.pl and root_helper_macos.pl.
use strict;

our ($VERSION, @TABLE, %acts, $uid, $name, $gid, $home);
my ($account_home, $child, $own_pid);

sub fail { print STDERR "file-share-lab: @_\n"; exit 1 }

# --- processes

# The process that called sudo, and its start: the nearest ancestor that is not root's. The command ends with it.
sub find_caller {
    my $pid = getppid;
    my ($parent, $owner, $start) = about($pid);
    while ($pid > 1 && defined $owner && $owner == 0) { ($pid, $parent, $owner, $start) = ($parent, about($parent)) }
    return ($pid, $start);
}

sub end {
    kill KILL => -$child if $child;
    exit 143;
}
# Only in the helper itself, not in its child processes
END { local $?; tidy_up() if $own_pid && $$ == $own_pid }

# Run a program with $given as its input, as root or (with $as_account) as the caller; returns its exit code.
sub run {
    my ($given, $as_account, @words) = @_;
    pipe my $input, my $feed or fail("pipe: $!");
    $child = fork;
    fail("fork: $!") unless defined $child;
    if (!$child) {
        setpgrp 0, 0;
        open STDIN, '<&', $input or exit 126;
        become_account() if $as_account;
        exec { $words[0] } @words or fail("$words[0]: $!");
    }
    close $input;
    syswrite $feed, $given if defined $given;
    close $feed;
    waitpid $child, 0;
    my $status = $?;
    $child = 0;
    return $status & 127 ? 128 + ($status & 127) : $status >> 8;
}

sub become_account {
    my @groups = ($gid);
    while (my @group = getgrent) { push @groups, $group[2] if grep { $_ eq $name } split ' ', $group[3] }
    splice @groups, MOST_GROUPS() if @groups > MOST_GROUPS();
    my %own = map { $_ => 1 } @groups;
    $) = "$gid @groups";
    $( = $gid;
    ($<, $>) = ($uid, $uid);  # the saved one goes with exec
    exit 126 if $< != $uid || $> != $uid || grep { !$own{$_} } split ' ', "$( $)";
    $ENV{HOME} = $account_home;
}

# --- actions of entries

%acts = (
    %acts,
    run => sub { my ($entry, $given) = @_; return run($given, 0, @{ $entry->{words} }) },
    account => sub { my ($entry, $given) = @_; return run($given, 1, @{ $entry->{words} }) },
    remove => sub {
        my ($folder, $empty) = ($_[0]{bound}{folder}, $_[0]{words}[-1]);
        return 0 unless lstat $folder;
        enter($folder);
        my $code = run(undef, 1, 'perl', '-e', $empty);
        chdir '/';
        return $code if $code;  # it has said what stays, and why
        rmdir $folder or fail("$folder: $!");
        rmdir $home;  # where nothing else is in it
        return 0;
    },
    # As root only what the account cannot do: give its folder a group that it is not in
    close => sub {
        my ($entry, $given) = @_;
        my ($store, $proof) = @{ $entry->{bound} }{qw(store proof)};
        chdir $store or fail("$store: $!");
        my ($mode, $owner) = (stat '.')[2, 4];
        refuse("$store is not ${name}'s, or not open to all") if $owner != $uid || ($mode & 07777) != 01777;
        my ($writer) = $proof eq '' ? () : (lstat $proof)[4];
        my ($writer_name, $group) = $writer && $writer != $uid ? (getpwuid $writer)[0, 3] : ();
        return run($given, 1, @{ $entry->{words} }) unless defined $group && (getgrgid $group)[0] eq $writer_name;
        run(undef, 1, 'rm', '-f', '--', $proof);
        set_mode(0700);
        chown -1, $group, '.' or fail("$store: $!");
        return set_mode(01770);
    },
    version => sub { print "$VERSION\n"; return 0 },
);

# Set the mode of the current folder
sub set_mode {
    my ($mode) = @_;
    chmod $mode, '.' or fail("chmod: $!");
    return 0;
}

# --- the program

sub main {
    $own_pid = $$;
    refuse('it is for sudo') if $> != 0 || (defined $ENV{SUDO_UID} ? $ENV{SUDO_UID} : '') !~ /\A([0-9]{1,10})\z/;
    $uid = $1 + 0;
    refuse('root needs no sudo: give sudo = none') if $uid == 0;
    ($name, $gid, $account_home) = (getpwuid $uid)[0, 3, 7];
    refuse("there is no account $uid") unless defined $name;
    %ENV = (PATH => '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL => 'C', LANG => 'C', HOME => HOME_OF_ROOT(),
        FILE_SHARE_LAB_ACCOUNT => $uid);
    $SIG{$_} = 'DEFAULT' for grep { !/^(?:KILL|STOP|NUM\d+|__\w+__)$/ } keys %SIG;
    umask 022;
    $home = find_home() . '/file-share-lab';
    chdir '/';
    make_types();
    my $entry = find_entry(@ARGV);
    if (!$entry->{words}) {
        my $word = defined $ARGV[$entry->{fits}] ? $ARGV[$entry->{fits}] : '(no more words)';
        $word =~ s/[^ -~]/?/g;
        refuse(sprintf 'word %d, %.60s, which is in no command that it knows; after an update of the lab, `lab host install`'
            . ' puts the new one there', $entry->{fits} + 1, $word);
    }
    my ($caller, $start) = find_caller();
    my $given = read_input($entry);
    $SIG{$_} = \&end for qw(TERM HUP INT);
    $SIG{ALRM} = sub {
        local ($!, $?);
        alarm 1;
        my $now = (about($caller))[2];
        end() if !defined $now || $now ne $start;
    };
    alarm 1;
    return $acts{ $entry->{act} }->($entry, $given);
}
