# Make the folder whose name is standard input, with mode $ARGV[0], for the account $ARGV[1] (empty: this one). It must not
# exist. In perl, because mkdir(1) would show the name in the list of processes before the folder exists.
use strict; use warnings;
my ($mode, $account) = @ARGV;
my $name = <STDIN>;
mkdir $name, 0700 or die "$name: $!\n";
if ($account ne '') {
    my ($user, $group) = (getpwnam $account)[2, 3] or die "$account: no such account\n";
    chown $user, $group, $name or die "$name: $!\n";
}
chmod oct $mode, $name or die "$name: $!\n";
