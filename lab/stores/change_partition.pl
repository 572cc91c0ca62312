# usage: add|remove DEVICE [START LENGTH], in bytes. Add or remove the kernel's partition 1 (ioctl BLKPG in linux/blkpg.h), which is not on the
# device. In perl, because not every Linux has addpart.
use strict; use warnings;
my ($act, $device, $start, $length) = @ARGV;
open my $handle, '<', $device or die "$device: $!\n";
my $partition = pack 'q q i x4 a64 a64', $start || 0, $length || 0, 1, '', '';
my $request = pack 'i3 x4 P', $act eq 'add' ? 1 : 2, 0, length $partition, $partition;
ioctl $handle, 0x1269, $request or die "$device: partition 1: $!\n";
