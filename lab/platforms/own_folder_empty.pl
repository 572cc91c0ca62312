# Remove all that is in the current folder, but not beyond a mount point. Others may swap a folder for a link meanwhile: after
# it is entered, each folder is compared with what was looked at. In perl, because find(1) of BusyBox has no -delete.
use strict; use warnings; no warnings 'recursion';
my ($device, $failed) = ((stat '.')[0], 0);
sub place { return join ':', (stat '.')[0, 1] }
sub complain { warn "$_[0]: $!\n"; return $failed = 1 }
sub empty {
    opendir my $folder, '.' or return complain($_[0]);
    my @names = grep { $_ ne '.' && $_ ne '..' } readdir $folder;
    closedir $folder;  # a deep tree has more folders than a process may have open
    for my $name (@names) {
        my @found = lstat $name or next;  # removed meanwhile
        my $is_folder = -d _;
        if ($is_folder && $found[0] == $device) {
            my $here = place();
            if (chdir $name) {
                place() eq "$found[0]:$found[1]" or die "$name: somebody else changes this folder\n";
                empty($name);
                chdir '..' && place() eq $here or die "$name: somebody else moved this folder\n";
            } else { complain($name) }
        }
        next if $is_folder ? rmdir $name : unlink $name;
        complain($name) unless $failed && $!{ENOTEMPTY};  # what is in it was named already
    }
}
empty('.');
exit $failed;
