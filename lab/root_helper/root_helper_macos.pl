# The helper of a narrow sudo on a Mac: folders and mounts. Added to root_helper.pl, after lab/platforms/macos/images.pl.
# For perl 5.10, which Mac OS X 10.6 has.
#
# macOS has no bind mounts, and its mount programs take a path, whose last part could be swapped. So the account's folder is
# taken meanwhile: only root can enter it then. The folders above it belong to root.
use strict;
{
our (%acts, $uid, $name, $home);
my $taken;
sub MOST_GROUPS () { 16 }  # NGROUPS_MAX
sub HOME_OF_ROOT () { '/var/root' }
sub find_home { return '/private/var/db' }  # without links
sub WAIT_S () { 5 }

# Patterns of operations in the host journal
sub operations {
    my ($own, $interface) = @_;
    return qq({"kind": "(?:ram-volume", "path": "$own/ram|mac-mount", "path": "$own/mnt)"}),
        qq({"kind": "ram-image", "sectors": [0-9]{1,13}, "place": "$own/ram"}),
        qq({"kind": "mac-mtu", "interface": "$interface"}),
        '{"kind": "mac-sysctl", "name": "net\.inet\.[a-z.]{1,30}"}';
}

sub types_of_system {
    return (
        number => ['[0-9]{1,10}', between(0, 2147483647)],
        nfs_options => ['(?:,(?:vers=(?:3|4\.[0-2])|[rw]size=[0-9]{1,8}|readahead=[0-9]{1,3}|hard|soft))*'],
        device => ['/dev/disk[0-9]{1,4}(?:s[0-9]{1,4})?'],
        format => ['hfs|apfs'],
    );
}

sub lines_of {
    my (@words) = @_;
    open my $pipe, '-|', @words or fail("$words[0]: $!");
    my @lines = <$pipe>;
    close $pipe;
    return @lines;
}

# The parent, the owner and the start of a process
sub about {
    my ($pid) = @_;
    my ($line) = lines_of('ps', map({ ('-o', "$_=") } qw(ppid uid lstart)), '-p', $pid);
    return defined $line && $line =~ /^\s*(\d+)\s+(\d+)\s+(\S.*?)\s*$/ ? ($1, $2, $3) : ();
}

# Lines of the table of mounts for a path without links
sub mounts_at { my ($path) = @_; return grep { / on \Q$path\E \(/ } lines_of('mount') }

# --- the account's folder, in the lab's home, where only root can create and rename entries

sub enter {
    my ($folder) = @_;
    give_back_left($folder);
    refuse("$folder is a link, or not of $name") if -l $folder || (lstat $folder)[4] != $uid;
    chdir $folder or fail("$folder: $!");
}

# The file that notes that a folder is taken, by which process, and its state before: a killed process leaves it so.
sub note_about { my ($folder) = @_; return $folder =~ m{\A(.*/)file-share-lab-([0-9a-f]{16})\z} ? "$1.taken-$2" : fail($folder) }

# Enter and take the folder of a path; returns the last part of the path.
sub take {
    my ($folder, $point) = $_[0] =~ m{\A(.*)/([a-z]+)\z};
    enter($folder);
    my ($mode, $group) = (stat '.')[2, 5];
    require Fcntl;
    my $new = Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_EXCL();
    sysopen my $note, note_about($folder), $new, 0600 or fail("$folder: another call is at work there: $!");
    syswrite $note, join(' ', $$, $uid, $group, $mode & 07777, (about($$))[2]) . "\n";
    close $note;
    $taken = $folder;
    chown 0, 0, '.' or fail("$folder: $!");
    set_mode(0700);
    # an access control list could still let the account in
    run(undef, 0, 'chmod', '-N', '.');
    my ($mode_now, $owner) = (stat '.')[2, 4];
    # an account may mount on its own folder: the path would lead to another one, where owners may not count
    my @by_path = lstat $folder;
    my @here = stat '.';
    refuse("$folder is a mount") if "@by_path[0, 1]" ne "@here[0, 1]" || $here[0] != (stat $home)[0] || mounts_at($folder);
    fail("$folder cannot be taken") if $owner != 0 || ($mode_now & 07777) != 0700 || grep { /^ \d+: / } lines_of('ls', '-lde', '.');
    return $point;
}

sub give_back {
    my ($folder, $owner, $group, $mode) = @_;
    chdir $folder or return;
    chmod $mode, '.';
    chown $owner, $group, '.';
    chdir '/';
    unlink note_about($folder);
}

sub read_note {
    my ($folder) = @_;
    open my $note, '<', note_about($folder) or return;
    my $line = <$note>;
    return defined $line && $line =~ /\A(\d+) (\d+) (\d+) (\d+) (.*)\n\z/ ? ($1, $2, $3, $4, $5) : ();
}

sub give_back_left {
    my ($folder) = @_;
    my ($pid, $owner, $group, $mode, $start) = read_note($folder);
    if (!defined $pid) {  # ended before it took anything
        my $age_days = -M note_about($folder);
        unlink note_about($folder) if defined $age_days && $age_days > 60 / 86400;
        return;
    }
    my $now = (about($pid))[2];
    fail("$folder: another call is at work there") if defined $now && $now eq $start;
    give_back($folder, $owner, $group, $mode) if $owner == $uid;
}

sub tidy_up {
    return unless $taken;
    my (undef, @before) = read_note($taken);
    give_back($taken, @before[0 .. 2]) if @before;
}

# Take the folder of a mount point, on which nothing may be mounted yet
sub take_empty {
    my ($path) = @_;
    my $point = take($path);
    fail("$path is a mount already") if mounts_at($path);
    refuse("$path is a link, or no folder of $name") if -l $point || !-d _ || (lstat _)[4] != $uid;
}

# --- actions of entries

# Whether a device belongs to a RAM image of the account that is mounted nowhere but at $place
sub is_own_image {
    my ($device, $place) = (@_, '');
    for my $image (images()) {
        my ($path, $owner, @parts) = (@$image{qw(image-path owner-uid)}, @{ $image->{devices} });
        next unless defined $path && $path =~ m{\Aram://\d+\z} && defined $owner && $owner eq $uid;
        next unless grep { defined $_->{'dev-entry'} && $_->{'dev-entry'} eq $device } @parts;
        return !grep { defined $_->{'mount-point'} && $_->{'mount-point'} ne '' && $_->{'mount-point'} ne $place } @parts;
    }
    return 0;
}

# Whether the helper or the account may have made the topmost mount at a path, according to the kernel and hdiutil
sub is_own_mount {
    my ($path) = @_;
    my $line = (mounts_at($path))[-1];
    return 1 unless defined $line;
    my ($source, $type, $flags) = $line =~ m{\A(.+) on \Q$path\E \(([a-z]+)(.*)\)$} or return 0;
    return $type =~ /\A(?:hfs|apfs)\z/ && is_own_image($source, $path) if $path =~ m{/ram\z};
    return 0 unless $type =~ /\A(?:nfs|smbfs|afpfs)\z/;
    return $flags =~ /, nodev\b/ && $flags =~ /, nosuid\b/ || $flags =~ /, mounted by \Q$name\E\z/;
}

$acts{volume} = sub {
    my ($bound) = $_[0]{bound};
    take_empty($bound->{ram});
    refuse("$bound->{device} is no RAM image of $name that is free") unless is_own_image($bound->{device});
    return run(undef, 0, 'mount', '-t', $bound->{format}, '-o', 'noatime,nosuid,nodev', $bound->{device}, $bound->{ram});
};
# As LEAVE_ALONE of lab/platforms/macos/disk_images.py. The account made what is on a volume, maybe links.
$acts{leave_alone} = sub {
    my ($bound) = $_[0]{bound};
    my $point = take($bound->{ram});
    chdir $point or fail("$bound->{ram}: $!");
    # checked from within: a mount of the account's on it cannot go away now
    my @mounts = mounts_at($bound->{ram});
    refuse("at $bound->{ram} is no RAM disk") if @mounts != 1 || $mounts[0] !~ m{\A/dev/disk\S+ on .* \((?:hfs|apfs),};
    set_mode(0700);
    chown $uid, -1, '.' or fail("$bound->{ram}: $!");
    run(undef, 1, '/bin/sh', '-c', 'touch .metadata_never_index && mkdir -p .fseventsd && touch .fseventsd/no_log') == 0
        or fail("$bound->{ram} cannot be written");
    run(undef, 0, 'mdutil', '-i', 'off', $bound->{ram});
    fail("Spotlight still indexes $bound->{ram}") if grep { /Indexing enabled/ } lines_of('mdutil', '-s', $bound->{ram});
    return 0;
};
$acts{mount} = sub {
    my ($entry) = @_;
    my @words = @{ $entry->{words} };
    take_empty($entry->{bound}{mnt});
    return run(undef, 0, @words[0, 1], "$words[2],nosuid,nodev", @words[3 .. $#words]);
};
$acts{unmount} = sub {
    my ($bound) = $_[0]{bound};
    my ($path) = grep { defined } @$bound{qw(ram mnt)};
    return 0 unless mounts_at($path);
    refuse("$path is a link") if is_link(take($path));
    for my $way ([], [], ['-f']) {
        refuse("what is mounted at $path is not the lab's") unless is_own_mount($path);
        run(undef, 0, 'umount', @$way, $path);
        return 0 unless mounts_at($path);
        select undef, undef, undef, 0.5;
    }
    fail("$path is still mounted");
};

# A mount with a dead server does not answer; it counts as no link.
sub is_link {
    my ($point) = @_;
    my $pid = fork;
    fail("fork: $!") unless defined $pid;
    if (!$pid) { $SIG{ALRM} = 'DEFAULT'; alarm WAIT_S; exit(-l $point ? 1 : 0) }
    waitpid $pid, 0;
    return $? >> 8;
}
}
