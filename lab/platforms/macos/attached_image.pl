# After images.pl. usage: state|detach IMAGE PLACE
# Prints "attached" or "absent", or detaches the image that this user attached from IMAGE, a file or ram://SECTORS. It is
# found in what hdiutil says, not by anything remembered. An image that is mounted elsewhere than at PLACE is left alone.
use strict;
use warnings;

my $APFS_CONTAINER = 'EF57347C-0000-11AA-AA11-00306543ECAC';    # such a disk is made up, and goes with the image
my ($act, $source, $place) = @ARGV;
my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;');
for ($source, $place) { s/([&<>])/$entity{$1}/g }

sub ours { return grep { value($_, 'image-path') eq $source and value($_, 'owner-uid') eq $< } images() }

sub mounted_elsewhere {
    my ($image) = @_;
    return grep { value($_, 'mount-point') ne '' and value($_, 'mount-point') ne $place } @{ $image->{devices} };
}

# The image's own disk, and none that was made up on top of it.
sub disks {
    my ($image) = @_;
    my @own = grep { value($_, 'content-hint') ne $APFS_CONTAINER } @{ $image->{devices} };
    return grep { m{^/dev/disk\d+$} } map { value($_, 'dev-entry') } @own;
}

if ($act eq 'state') { print ours() ? "attached\n" : "absent\n"; exit }
die "unknown: $act\n" unless $act eq 'detach';
for my $try (1 .. 4) {    # Spotlight and other curious programs keep a new disk busy for a moment
    my @mine = grep { !mounted_elsewhere($_) } ours();
    last unless @mine;
    for my $device (map { disks($_) } @mine) {
        system('hdiutil', 'detach', $device, $try == 4 ? '-force' : ()) == 0 or sleep 1;
    }
}
