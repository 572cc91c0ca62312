# The helper of a narrow sudo on Linux: folders and mounts. Added to root_helper.pl.
use strict;
{
our (%acts, $uid, $name, $home);
my $stage;
sub MOST_GROUPS () { 65_536 }
sub HOME_OF_ROOT () { '/root' }
# linux/mount.h, sys/wait.h
sub NOSUID () { 2 } sub NODEV () { 4 } sub BIND () { 4096 } sub DETACH () { 2 } sub NOFOLLOW () { 8 }
sub NOHANG () { 1 }
sub WAIT_S () { 5 }
sub CREDENTIALS () { 4096 }

sub memory { open my $file, '<', '/proc/meminfo' or return 0; return <$file> =~ /^MemTotal: +(\d+) kB/ ? $1 * 1024 : 0 }

# Patterns of operations in the host journal
sub operations {
    my ($own, $interface) = @_;
    return qq({"kind": "(?:tmpfs", "path": "$own/ram|linux-mount", "path": "$own/mnt)"}),
        qq({"kind": "linux-mtu", "interface": "$interface"}),
        '{"kind": "linux-tcp-buffer", "name": "net\.ipv4\.tcp_[rw]mem"}';
}

sub types_of_system {
    my ($own) = @_;
    return (
        buffer => ['[0-9]{1,10}\t[0-9]{1,10}\t[0-9]{1,10}',
            sub { !grep { $_ < 1 || $_ > 2147483647 } split /\t/, $_[0] }],
        bytes => ['[0-9]{1,16}', between(1, memory())],
        credentials => ["$own/smb-credentials"],
        # mount.cifs puts the name among options: no comma
        smb => ['//[0-9A-Fa-f.:%a-z-]{3,60}/[^/\\\\,\0-\x1f\x7f]{1,255}'],
        smb_options => ['(?:,(?:vers=[0-9.]{1,5}|sign))*'],
        nfs_options => ['(?:,(?:vers=(?:3|4\.[0-2])|nconnect=[0-9]{1,2}|[rw]size=[0-9]{1,8}|hard|soft))*'],
    );
}

# The parent, the owner and the start of a process
sub about {
    my ($pid) = @_;
    my $owner = (stat "/proc/$pid")[4];
    open my $file, '<', "/proc/$pid/stat" or return;
    my ($parent, $start) = (split ' ', <$file> =~ s/.*\) //sr)[1, 19];
    return ($parent, $owner, $start);
}

# The folder above the lab's home, without links
sub find_home {
    chdir '/var/lib' or fail("/var/lib: $!");
    my ($home) = readlink('/proc/self/cwd') =~ /\A(.*)\z/;
    return $home;
}

# --- folders and mounts. A folder is entered first and then checked as `.`, which nobody can swap

sub enter {
    my ($path) = @_;
    chdir $home or fail("$home: $!");
    for my $part (split m{/}, substr $path, 1 + length $home) { chdir $part or fail("$path: $!") }
    refuse("$path is a link, or not of $name") if readlink '/proc/self/cwd' ne $path || (stat '.')[4] != $uid;
}

sub is_mounted {
    my ($path) = @_;
    open my $table, '<', '/proc/self/mounts' or fail("/proc/self/mounts: $!");
    return (grep { (split ' ')[1] eq $path } <$table>)[-1];  # the last one is on top of the others
}

# Whether the helper may have made the topmost mount, according to the kernel: the account's RAM disk, or a share. The path
# alone proves nothing.
sub is_own_mount {
    my ($path) = @_;
    my ($source, undef, $type, $options) = split ' ', is_mounted($path) || return 1;
    my %has = map { $_ => 1 } split /,/, $options;
    return 0 unless $has{nosuid} && $has{nodev};
    return $type =~ /\A(?:nfs4?|cifs|smb3)\z/ if $path =~ m{/mnt\z};
    return $source eq 'lab' && $type eq 'tmpfs' && $has{"uid=$uid"};
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

# Unmount a path in the folder that was entered; returns whether it is gone. With a dead server the call may hang in the
# kernel, so another process makes it.
sub unmount_once {
    my ($path, $flags) = @_;
    my $point = $path =~ s{.*/}{}r;
    my $pid = fork;
    fail("fork: $!") unless defined $pid;
    if (!$pid) { $SIG{ALRM} = 'DEFAULT'; alarm 0; system_call('umount2', $point, $flags | NOFOLLOW); exit 0 }
    for (1 .. WAIT_S * 50) { last if waitpid($pid, NOHANG) == $pid; select undef, undef, undef, 0.02 }
    return !is_mounted($path);
}

$acts{tmpfs} = sub {
    my ($bound) = $_[0]{bound};
    enter($bound->{ram});
    fail("$bound->{ram} is a mount already") if is_mounted($bound->{ram});
    my $options = "size=$bound->{bytes},mode=700,uid=$bound->{uid}";
    for my $huge (',huge=within_size', '') {
        return 0 if mount_here('lab', 'tmpfs', NOSUID | NODEV, $options . $huge);
    }
    fail("mount of $bound->{ram}: $!");
};
$acts{unmount} = sub {
    my ($bound) = $_[0]{bound};
    my ($path) = grep { defined } @$bound{qw(ram mnt)};
    return 0 unless is_mounted($path);
    enter($path =~ s{/[^/]*\z}{}r);
    for my $flags (0, 0, DETACH) {
        refuse("what is mounted at $path is not the lab's") unless is_own_mount($path);
        return 0 if unmount_once($path, $flags);
        select undef, undef, undef, 0.5;
    }
    fail("$path is still mounted");
};
$acts{mount} = sub {
    my ($entry) = @_;
    my ($bound, @words) = ($entry->{bound}, @{ $entry->{words} });
    enter($bound->{mnt});
    fail("$bound->{mnt} is a mount already") if is_mounted($bound->{mnt});
    # mount(8) takes a path, which could be swapped: it mounts in a folder that only root can enter
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
};

# Copy the account's credentials for mount.cifs to a file that only root can change. A link could lead to a file of root's.
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

sub tidy_up { clear_stage($stage) if $stage }

sub clear_stage {
    my ($stage) = @_;
    chdir '/';
    unlink "$stage/credentials";
    my $place = "$stage/at";
    system_call('umount2', $place, DETACH | NOFOLLOW) if is_mounted($place);
    rmdir $place;
    rmdir $stage;
}

# Clear stages of calls that were killed
sub clear_stages {
    opendir my $folder, $home or return;
    for my $entry (readdir $folder) {
        clear_stage("$home/.stage-$1") if $entry =~ /^\.stage-([0-9]+)\z/ && !-d "/proc/$1";
    }
}
}
