# Runs the command @ARGV on a terminal of its own, and answers its question for a password with the first line of standard
# input. mount_smbfs and mount_afp ask only at a terminal, and everybody sees arguments in ps. The command's output goes to
# standard error without the password. Exits like the command, or with 77 if it asks again: the password was refused.
use strict; use warnings;
use Fcntl qw(O_RDWR O_NOCTTY);
use POSIX qw(setsid WNOHANG);

defined(my $password = <STDIN>) or die "no password on standard input\n";
chomp $password;
my $is_darwin = $^O eq 'darwin';

# A new terminal: this end of it, and the path of the other one. Numbers: sys/ttycom.h of xnu; asm-generic/ioctls.h
sub terminal {
    sysopen my $end, '/dev/ptmx', O_RDWR | O_NOCTTY or die "/dev/ptmx: $!\n";
    if ($is_darwin) {
        ioctl $end, 0x20007454, 0 or die "TIOCPTYGRANT: $!\n";
        ioctl $end, 0x20007452, 0 or die "TIOCPTYUNLK: $!\n";
        my $path = "\0" x 128;
        ioctl $end, 0x40807453, $path or die "TIOCPTYGNAME: $!\n";
        return $end, unpack 'Z*', $path;
    }
    my ($unlocked, $number) = (pack('i', 0), pack 'i', 0);
    ioctl $end, 0x40045431, $unlocked or die "TIOCSPTLCK: $!\n";
    ioctl $end, 0x80045430, $number or die "TIOCGPTN: $!\n";
    return $end, '/dev/pts/' . unpack 'i', $number;
}

# The child's part: to have the terminal as its own, which is what /dev/tty then is, and to become the command
sub become {
    my ($path, @command) = @_;
    setsid();
    open my $terminal, '+<', $path or die "$path: $!\n";
    ioctl $terminal, $is_darwin ? 0x20007461 : 0x540E, 0 or die "TIOCSCTTY: $!\n";
    open STDIN, '<&', $terminal and open STDOUT, '>&', $terminal and open STDERR, '>&', $terminal or exit 126;
    exec @command or die "$command[0]: $!\n";
}

# The text without the password, as it is and as a part of a URL
sub redacted {
    my ($text) = @_;
    return $text if $password eq '';
    my $encoded = join '', map { /[A-Za-z0-9._~-]/ ? $_ : sprintf '%%%02X', ord } split //, $password;
    $text =~ s/\Q$encoded\E/***/gi;
    $text =~ s/\Q$password\E/***/g;
    return $text;
}

my ($end, $path) = terminal();
my $pid = fork;
die "fork: $!\n" unless defined $pid;
become($path, @ARGV) unless $pid;
my ($output, $answered, $refused, $part, $status) = ('', 0, 0);
do {
    $status = $? if !defined $status && waitpid($pid, WNOHANG) == $pid;
    vec(my $watched = '', fileno $end, 1) = 1;
    my $can_read = select $watched, undef, undef, 0.1;
    $part = '';
    select undef, undef, undef, 0.01 unless $can_read > 0 && sysread $end, $part, 4096;  # the other end is closed
    $output .= $part;
    if (!$refused && substr($output, $answered) =~ /password[^\n]*:\s*\z/i) {
        if ($answered) { $refused = 1; kill 'TERM', $pid; kill 'HUP', $pid }
        else { syswrite $end, "$password\n"; $answered = length $output }
    }
} until defined $status && $part eq '';
$output =~ s/\r//g;
print STDERR redacted($output);
print STDERR "\nit asked for the password again: the password was refused\n" if $refused;
exit($refused ? 77 : $status & 127 ? 128 + ($status & 127) : $status >> 8);
