# Remove all that is in the current folder, but not beyond a mount point. Others may swap a folder for a link meanwhile, so
# each folder is compared with what was looked at once it is entered. In perl, because find(1) of BusyBox has no -delete.
use strict; use warnings;
my ($device, $failed) = ((stat '.')[0], 0);
sub place { return join ':', (stat '.')[0, 1] }
sub empty {
    opendir my $folder, '.' or die "cannot read a folder: $!\n";
    for my $name (grep { $_ ne '.' && $_ ne '..' } readdir $folder) {
        my @found = lstat $name or next;  # removed meanwhile
        my $is_folder = -d _;
        if ($is_folder && $found[0] == $device) {
            my $here = place();
            chdir $name && place() eq "$found[0]:$found[1]" or die "$name: somebody else changes this folder\n";
            empty();
            chdir '..' && place() eq $here or die "$name: somebody else moved this folder\n";
        }
        next if $is_folder ? rmdir $name : unlink $name;
        warn "$name: $!\n" unless $failed && $!{ENOTEMPTY};  # what is in it was named already
        $failed = 1;
    }
}
empty();
exit $failed;
