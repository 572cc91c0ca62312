# usage: unflushed.pl COMMAND ...
# Runs a command whose flushes do nothing. For that process and its children, a seccomp filter lets fsync and the like
# succeed without effect; it cannot be removed. No preloaded library, because Ganesha's modules bypass preloaded libraries.
use strict;
use warnings;
use POSIX ();

# from asm/unistd.h and linux/audit.h: the architecture, prctl, then fsync, fdatasync, sync_file_range, syncfs
my %numbers = (
    x86_64  => [0xc000003e, 157, 74, 75, 277, 306],
    aarch64 => [0xc00000b7, 167, 82, 83, 84,  267],
);
# from linux/prctl.h, linux/seccomp.h, linux/bpf_common.h
my ($PR_SET_SECCOMP, $MODE_FILTER) = (22, 2);
my ($LOAD, $JUMP_IF_EQUAL, $RETURN) = (0x20, 0x15, 0x06);
my ($NUMBER, $ARCHITECTURE) = (0, 4);           # where they stand in struct seccomp_data
my ($ALLOW, $SUCCESS) = (0x7fff0000, 0x00050000);

my $machine = (POSIX::uname())[4];
die "server_sync = async: no system calls are known for $machine\n" unless $numbers{$machine};
my ($architecture, $prctl, @calls) = @{$numbers{$machine}};

# each is code, how many to skip if equal and if not, value
my @filter = ([$LOAD, 0, 0, $ARCHITECTURE], [$JUMP_IF_EQUAL, 0, scalar @calls + 1, $architecture], [$LOAD, 0, 0, $NUMBER]);
push @filter, map { [$JUMP_IF_EQUAL, @calls - $_, 0, $calls[$_]] } 0 .. $#calls;
push @filter, [$RETURN, 0, 0, $ALLOW], [$RETURN, 0, 0, $SUCCESS];
my $instructions = join '', map { pack 'SCCL', @$_ } @filter;
my $program = pack 'S x6 P', scalar @filter, $instructions;    # struct sock_fprog of a 64-bit system

syscall($prctl, $PR_SET_SECCOMP, $MODE_FILTER, $program) == 0 or die "server_sync = async: no seccomp filter: $!\n";
$ENV{FILE_SHARE_LAB_FLUSHES} = 'ignored';
exec @ARGV or die "$ARGV[0]: $!\n";
