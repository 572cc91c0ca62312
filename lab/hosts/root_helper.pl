# All that a narrow sudo gives: this program, which root owns, does what stands in its table and nothing else.
# docs/explanation/security.md says what that is, and what whoever has the account can do with it.
#
# `lab host install` adds the table, made of the code of the lab: commands by their words. A word is a text that has to
# be just so (scripts too), or a reference to one with {types}. What is run is made of the table's own texts and of what
# a type let through; perl's taint checks (-T) end it where anything else would be.
#
# It is started for each command, and loading modules would take longer than all it does: -w in place of warnings, and
# what few commands need is loaded by these.
use strict;

our ($VERSION, @TABLE, $uid, $name, $gid, $home);
# linux/mount.h, sys/wait.h
sub NOSUID () { 2 } sub NODEV () { 4 } sub BIND () { 4096 } sub DETACH () { 2 } sub NOFOLLOW () { 8 }
sub NOHANG () { 1 }
sub WAIT_S () { 5 }
sub CREDENTIALS () { 4096 }
my ($account_home, $child, $stage);

sub fail { print STDERR "file-share-lab: @_\n"; exit 1 }

# --- processes

# Its parent, and when it started
sub about {
    my ($pid) = @_;
    open my $file, '<', "/proc/$pid/stat" or return;
    return (split ' ', <$file> =~ s/.*\) //sr)[1, 19];
}

# The process that called sudo: the nearest one above that is not root's. What it asked for ends with it.
sub find_caller {
    my $pid = getppid;
    while ($pid > 1 && (stat "/proc/$pid")[4] == 0) { ($pid) = about($pid) }
    return ($pid, (about($pid))[1]);
}

sub end {
    kill KILL => -$child if $child;
    exit 143;
}
END { local $?; clear_stage($stage) if $stage }

# Run a program with $given as its input, as root or, where $as_account, as who called; returns its exit code.
sub run {
    my ($given, $as_account, @words) = @_;
    pipe my $input, my $feed or fail("pipe: $!");
    $child = fork;
    fail("fork: $!") unless defined $child;
    if (!$child) {
        undef $stage;  # it is not this process that clears it
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
    $) = "$gid @groups";
    $( = $gid;
    ($<, $>) = ($uid, $uid);  # the saved one goes with exec
    exit 126 if $< != $uid || $> != $uid || $) != $gid;
    $ENV{HOME} = $account_home;
}

# --- folders and mounts. A folder is entered first, and looked at then, as `.`, which nobody can swap

sub enter {
    my ($path) = @_;
    chdir $home or fail("$home: $!");
    for my $part (split m{/}, substr $path, 1 + length $home) { chdir $part or fail("$path: $!") }
    refuse("$path is a link, or not of $name") if readlink '/proc/self/cwd' ne $path || (stat '.')[4] != $uid;
}

sub is_mounted {
    my ($path) = @_;
    open my $table, '<', '/proc/self/mounts' or fail("/proc/self/mounts: $!");
    return scalar grep { (split ' ')[1] eq $path } <$table>;
}

sub system_call {
    my ($which, @arguments) = @_;  # numbers: asm/unistd.h of each
    require Config;
    my $processor = $Config::Config{archname} || $Config::Config{myarchname};
    my $numbers = $processor =~ /^x86_64/ ? { mount => 165, umount2 => 166 }
        : $processor =~ /^(?:aarch64|riscv64|loongarch64)/ ? { mount => 40, umount2 => 39 }
        : $processor =~ /^(?:i[3-6]86|arm|s390|p(?:ower)?pc)/ ? { mount => 21, umount2 => 52 }
        : fail("it knows no processor $processor");
    return syscall($numbers->{$which}, @arguments) == 0;
}

sub mount_here {
    my ($source, $kind, $flags, $options, $here) = (@_, '.');
    return system_call('mount', $source, $here, $kind, $flags, $options);
}

# Unmount what is at a path whose folder was entered; returns whether it is gone. Where a server is dead, that may wait
# in the kernel, so another process waits there.
sub unmount_once {
    my ($path, $flags) = @_;
    my $point = $path =~ s{.*/}{}r;
    my $pid = fork;
    fail("fork: $!") unless defined $pid;
    if (!$pid) { undef $stage; $SIG{ALRM} = 'DEFAULT'; alarm 0; system_call('umount2', $point, $flags | NOFOLLOW); exit 0 }
    for (1 .. WAIT_S * 50) { last if waitpid($pid, NOHANG) == $pid; select undef, undef, undef, 0.02 }
    return !is_mounted($path);
}

# --- what an entry does

my %acts = (
    run => sub { my ($entry, $given) = @_; return run($given, 0, @{ $entry->{words} }) },
    account => sub { my ($entry, $given) = @_; return run($given, 1, @{ $entry->{words} }) },
    tmpfs => sub {
        my ($bound) = $_[0]{bound};
        enter($bound->{ram});
        fail("$bound->{ram} is a mount already") if is_mounted($bound->{ram});
        my $options = "size=$bound->{bytes},mode=700,uid=$bound->{uid}";
        for my $huge (',huge=within_size', '') {
            return 0 if mount_here('lab', 'tmpfs', NOSUID | NODEV, $options . $huge);
        }
        fail("mount of $bound->{ram}: $!");
    },
    unmount => sub {
        my ($bound) = $_[0]{bound};
        my ($path) = grep { defined } @$bound{qw(ram mnt fuse)};
        return 0 unless is_mounted($path);
        enter($path =~ s{/[^/]*\z}{}r);
        for my $flags (defined $bound->{fuse} ? () : (0, 0), DETACH) {
            return 0 if unmount_once($path, $flags);
            select undef, undef, undef, 0.5;
        }
        fail("$path is still mounted");
    },
    remove => sub {
        my ($folder) = $_[0]{bound}{folder};
        return 0 unless lstat $folder;
        enter($folder);
        my $code = run(undef, 1, qw(find . -xdev -mindepth 1 -delete));
        chdir '/';
        rmdir $folder or fail("$folder: $!");
        rmdir $home;  # where nothing else is in it
        return $code;
    },
    mount => sub {
        my ($entry) = @_;
        my ($bound, @words) = ($entry->{bound}, @{ $entry->{words} });
        enter($bound->{mnt});
        fail("$bound->{mnt} is a mount already") if is_mounted($bound->{mnt});
        # mount(8) takes a path, and what is there could be swapped: it mounts where only root can go
        clear_stages();
        $stage = "$home/.stage-$$";
        mkdir $stage, 0700 and mkdir "$stage/at", 0700 or fail("$stage: $!");
        my $options = $words[4];
        $options =~ s/^credentials=[^,]*/"credentials=" . copy_credentials($bound->{credentials}, $stage)/e;
        chdir '/';
        my $code = run(undef, 0, @words[0 .. 3], "$options,nosuid,nodev", $words[5], "$stage/at");
        if (!$code) {
            enter($bound->{mnt});
            my $from = "$stage/at";
            mount_here($from, 'none', BIND, 0) or $code = 32;
        }
        return $code;
    },
    version => sub { print "$VERSION\n"; return 0 },
);

# A copy of the account's file for mount.cifs, which only root can change: by a link it could be a file of root's.
sub copy_credentials {
    my ($path, $stage) = @_;
    enter($path =~ s{/[^/]*\z}{}r);
    require Fcntl;
    sysopen my $file, 'smb-credentials', Fcntl::O_RDONLY() | Fcntl::O_NOFOLLOW() | Fcntl::O_NONBLOCK() or fail("$path: $!");
    my @about = stat $file;
    refuse("$path is not a file of $name alone") unless -f $file && $about[4] == $uid && $about[3] == 1;
    sysread $file, my $content, CREDENTIALS;
    my ($clean) = $content =~ /\A(username=[^\0\n,]+\npassword=[^\0\n]*\n)\z/ or refuse("what is in $path");
    sysopen my $copy, "$stage/credentials", Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_EXCL(), 0600 or fail("$stage: $!");
    syswrite $copy, $clean;
    return "$stage/credentials";
}

sub clear_stage {
    my ($stage) = @_;
    chdir '/';
    unlink "$stage/credentials";
    my $place = "$stage/at";
    system_call('umount2', $place, DETACH | NOFOLLOW) if is_mounted($place);
    rmdir $place;
    rmdir $stage;
}

# Those of calls that were killed
sub clear_stages {
    opendir my $folder, $home or return;
    for my $entry (readdir $folder) {
        clear_stage("$home/.stage-$1") if $entry =~ /^\.stage-([0-9]+)\z/ && !-d "/proc/$1";
    }
}

# --- the program

sub main {
    refuse('it is for sudo') if $> != 0 || ($ENV{SUDO_UID} // '') !~ /\A([0-9]{1,10})\z/;
    $uid = $1 + 0;
    refuse('root needs no sudo: give sudo = none') if $uid == 0;
    ($name, $gid, $account_home) = (getpwuid $uid)[0, 3, 7];
    refuse("there is no account $uid") unless defined $name;
    %ENV = (PATH => '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL => 'C', LANG => 'C', HOME => '/root');
    $SIG{$_} = 'DEFAULT' for grep { !/^(?:KILL|STOP|NUM\d+|__\w+__)$/ } keys %SIG;
    umask 022;
    chdir '/var/lib' or fail("/var/lib: $!");
    ($home) = readlink('/proc/self/cwd') =~ /\A(.*)\z/;
    $home .= '/file-share-lab';
    chdir '/';
    make_types();
    my $entry = find_entry(@ARGV);
    if (!$entry->{words}) {
        my $word = $ARGV[$entry->{fits}] // '(no more words)';
        refuse(sprintf 'word %d, %.60s, which is in no command that it knows; after an update of the lab, `lab host install`'
            . ' puts the new one there', $entry->{fits} + 1, $word =~ s/[^ -~]/?/gr);
    }
    my ($caller, $start) = find_caller();
    my $given = read_input($entry);
    $SIG{$_} = \&end for qw(TERM HUP INT);
    $SIG{ALRM} = sub { alarm 1; my $now = (about($caller))[1]; end() if !defined $now || $now ne $start };
    alarm 1;
    return $acts{ $entry->{act} }->($entry, $given);
}
