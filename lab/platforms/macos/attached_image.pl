# After images.pl. usage: state|detach|new|volume IMAGE PLACE [UID]
# The image that the account UID, or the one that runs this, attached from IMAGE, a file or ram://SECTORS: found by what
# hdiutil says of it and by nothing that was remembered. Prints "attached" or "absent"; the device of one that is new, of
# which nothing else was made yet; or that of the volume on it. Or detaches it, unless it is mounted anywhere but at PLACE:
# then it is somebody else's and left alone. perl, because no shell tool that every Mac has reads a property list.
use strict;
use warnings;

my $APFS_CONTAINER = 'EF57347C-0000-11AA-AA11-00306543ECAC';    # such a disk is made up, and goes with the image
my $APFS_VOLUME = '41504653-0000-11AA-AA11-00306543ECAC';
my ($act, $image, $place, $uid) = @ARGV;
my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;');
for ($image, $place) { s/([&<>])/$entity{$1}/g }
$uid = $< unless defined $uid;

sub ours { return grep { value($_, 'image-path') eq $image and value($_, 'owner-uid') eq $uid } images() }

sub only {
    my @ours = ours();
    die scalar(@ours) . " images are $image: none is certainly the lab's\n" if @ours != 1;
    return $ours[0];
}

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
if ($act eq 'new') {
    my $image = only();
    my @disks = disks($image);
    my @mounted = grep { value($_, 'mount-point') ne '' } @{ $image->{devices} };
    die "the image is in use already\n" if @mounted or @disks != 1 or @{ $image->{devices} } != 1;
    print "$disks[0]\n";
    exit;
}
if ($act eq 'volume') {
    my $image = only();
    my @volumes = map { value($_, 'dev-entry') } grep { value($_, 'content-hint') eq $APFS_VOLUME } @{ $image->{devices} };
    @volumes = disks($image) unless @volumes;
    die "no volume, or several, on the image\n" if @volumes != 1 or $volumes[0] !~ m{^/dev/disk\d+(s\d+)?$};
    print "$volumes[0]\n";
    exit;
}
die "unknown: $act\n" unless $act eq 'detach';
for my $try (1 .. 4) {    # Spotlight and other curious programs keep a new disk busy for a moment
    my @mine = grep { !mounted_elsewhere($_) } ours();
    last unless @mine;
    for my $device (map { disks($_) } @mine) {
        system('hdiutil', 'detach', $device, $try == 4 ? '-force' : ()) == 0 or sleep 1;
    }
}
