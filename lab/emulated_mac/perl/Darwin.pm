# What perl is on a Mac and not on the Linux below: its name of the system, F_FULLFSYNC, the ioctls of a terminal, and a
# missing clock.
package Darwin;
use strict;
use warnings;

my ($F_FULLFSYNC, $F_NOCACHE) = (51, 48);    # <sys/fcntl.h>

# <sys/ttycom.h>: grant and unlock a terminal, tell its name, take it as one's own; and asm-generic/ioctls.h
my ($TIOCPTYGRANT, $TIOCPTYUNLK, $TIOCPTYGNAME, $TIOCSCTTY) = (0x20007454, 0x20007452, 0x40807453, 0x20007461);
my ($LINUX_TIOCSPTLCK, $LINUX_TIOCGPTN, $LINUX_TIOCSCTTY) = (0x40045431, 0x80045430, 0x540E);

# A handle as the caller of an overridden function named it
sub handle_of {
    my ($handle, $package) = @_;
    return $handle if ref $handle or ref \$handle eq 'GLOB';
    no strict 'refs';
    return \*{"${package}::$handle"};
}

BEGIN {
    $^O = 'darwin';
    no warnings 'once';
    *CORE::GLOBAL::fcntl = sub (*$$) {
        my ($handle, $function, $value) = @_;
        $handle = handle_of($handle, scalar caller);
        return '0 but true' if $function == $F_NOCACHE;
        return CORE::fcntl($handle, $function, $value) unless $function == $F_FULLFSYNC;
        require IO::Handle;
        return $handle->IO::Handle::sync ? '0 but true' : undef;
    };
    *CORE::GLOBAL::ioctl = sub (*$$) {
        my $handle = handle_of($_[0], scalar caller);
        return '0 but true' if $_[1] == $TIOCPTYGRANT;    # a terminal of Linux belongs to whoever opened it
        return CORE::ioctl($handle, $LINUX_TIOCSPTLCK, my $unlocked = pack 'i', 0) if $_[1] == $TIOCPTYUNLK;
        return CORE::ioctl($handle, $LINUX_TIOCSCTTY, $_[2]) if $_[1] == $TIOCSCTTY;
        return CORE::ioctl($handle, $_[1], $_[2]) if $_[1] != $TIOCPTYGNAME;
        my $number = pack 'i', 0;
        my $told = CORE::ioctl($handle, $LINUX_TIOCGPTN, $number) or return undef;
        substr $_[2], 0, 128, pack 'a128', '/dev/pts/' . unpack 'i', $number;    # the kernel fills 128 bytes
        return $told;
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
