# How perl on a Mac differs from that of the Linux below: the name of the system, F_FULLFSYNC, fsync over SMB, the ioctls
# of terminals, and before 10.12 no clock_gettime.
package Darwin;
use strict;
use warnings;

my ($F_FULLFSYNC, $F_NOCACHE) = (51, 48);    # <sys/fcntl.h>

# <sys/ttycom.h>: grant and unlock a terminal, tell its name, take it as one's own; and asm-generic/ioctls.h
my ($TIOCPTYGRANT, $TIOCPTYUNLK, $TIOCPTYGNAME, $TIOCSCTTY) = (0x20007454, 0x20007452, 0x40807453, 0x20007461);
my ($LINUX_TIOCSPTLCK, $LINUX_TIOCGPTN, $LINUX_TIOCSCTTY) = (0x40045431, 0x80045430, 0x540E);

# Of a file on a mounted SMB share, what the kernel notes of the mount (kernel/mounted_shares.py); undef elsewhere
my $SMBFS = '/linux/run/emulated_mac_smbfs';
sub smb_mount_of {
    my ($device) = stat $_[0] or return undef;
    my $owner = (stat "$SMBFS/$device")[4];
    open my $file, '<', "$SMBFS/$device" or return undef;
    return { full_sync => <$file> eq "full_sync\n", flushes => "$SMBFS/flushes-$owner" };
}

sub is_for_writing { return CORE::fcntl($_[0], 3, 0) & 3 }    # F_GETFL, O_ACCMODE

sub note_flush {
    open my $file, '>>', $_[0]{flushes} or return;
    print $file "FLUSH\n";
    close $file;
}

# F_FULLFSYNC of smbfs (SMBClient-494, smbfs_vnops.c): not supported unless the server has full sync; then a FLUSH, which
# the server refuses to a file that is open for reading alone (MS-SMB2 3.3.5.11). $! as Linux has it.
sub smb_full_sync {
    my ($handle, $mount) = @_;
    if (!$mount->{full_sync}) { $! = 95; return undef }    # EOPNOTSUPP
    if (!is_for_writing($handle)) { $! = 13; return undef }    # EACCES
    note_flush($mount);
    return '0 but true';
}

# A handle as the caller of an overridden function named it
sub handle_of {
    my ($handle, $package) = @_;
    return $handle if ref $handle or ref \$handle eq 'GLOB';
    no strict 'refs';
    return \*{"${package}::$handle"};
}

BEGIN {
    $^O = 'darwin';
    require IO::Handle;
    my $sync = \&IO::Handle::sync;
    no warnings 'redefine';
    # smbfs_smb_fsync: of a file that is open for reading alone it returns 0, and sends nothing
    *IO::Handle::sync = sub {
        my $mount = smb_mount_of($_[0]);
        note_flush($mount) if $mount && is_for_writing($_[0]);
        return $sync->($_[0]);
    };
    no warnings 'once';
    *CORE::GLOBAL::fcntl = sub (*$$) {
        my ($handle, $function, $value) = @_;
        $handle = handle_of($handle, scalar caller);
        return '0 but true' if $function == $F_NOCACHE;
        return CORE::fcntl($handle, $function, $value) unless $function == $F_FULLFSYNC;
        my $mount = smb_mount_of($handle);
        return $mount ? smb_full_sync($handle, $mount) : $sync->($handle) ? '0 but true' : undef;
    };
    *CORE::GLOBAL::ioctl = sub (*$$) {
        my $handle = handle_of($_[0], scalar caller);
        return '0 but true' if $_[1] == $TIOCPTYGRANT;    # a terminal of Linux belongs to whoever opened it
        return CORE::ioctl($handle, $LINUX_TIOCSPTLCK, my $unlocked = pack 'i', 0) if $_[1] == $TIOCPTYUNLK;
        return CORE::ioctl($handle, $LINUX_TIOCSCTTY, $_[2]) if $_[1] == $TIOCSCTTY;
        return CORE::ioctl($handle, $_[1], $_[2]) if $_[1] != $TIOCPTYGNAME;
        my $number = pack 'i', 0;
        my $result = CORE::ioctl($handle, $LINUX_TIOCGPTN, $number) or return undef;
        substr $_[2], 0, 128, pack 'a128', '/dev/pts/' . unpack 'i', $number;    # the kernel fills 128 bytes
        return $result;
    };
}

# Time::HiRes has clock_gettime from 10.12 on
open my $file, '<', '/linux/etc/emulated-mac-version' or die "which version this Mac is cannot be read: $!\n";
my ($major, $minor) = <$file> =~ /^(\d+)\.(\d+)/;
if ($major == 10 and $minor < 12) {
    require Time::HiRes;
    no warnings 'redefine';
    *Time::HiRes::clock_gettime = sub (;$) { die "Time::HiRes::clock_gettime(): unimplemented in this platform\n" };
}

1;
