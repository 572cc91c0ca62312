# usage: ram_image.pl state|detach SECTORS PLACE
# Prints "attached" or "absent", or detaches: the RAM image of exactly SECTORS sectors that this user attached, found by
# what hdiutil says of it and by nothing that was remembered. One that is mounted anywhere but at PLACE is somebody
# else's and left alone. perl, because no shell tool that every Mac has reads a property list.
use strict;
use warnings;

my ($act, $sectors, $place) = @ARGV;
my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;');
$place =~ s/([&<>])/$entity{$1}/g;

# Each image: a list of values under every key; keys of its devices (dev-entry, mount-point) stand beside its own.
sub images {
    my $plist = `hdiutil info -plist`;
    die "cannot read hdiutil info -plist\n" if $? or $plist !~ m{</plist>\s*$};
    my ($depth, $key, @images) = (0, '');
    while ($plist =~ m{<(/?)(dict|key|string|integer)>([^<]*)}g) {
        my ($end, $tag, $text) = ($1, $2, $3);
        if ($tag eq 'dict') { $depth += $end ? -1 : 1; push @images, {} if $depth == 2 and not $end }
        elsif ($end) { next }
        elsif ($tag eq 'key') { $key = $text }
        elsif ($depth > 1) { push @{ $images[-1]{$key} }, $text }
    }
    return @images;
}

sub value { my ($image, $key) = @_; return "@{ $image->{$key} || [] }" }
sub ours { return grep { value($_, 'image-path') eq "ram://$sectors" and value($_, 'owner-uid') eq $< } images() }

if ($act eq 'state') { print ours() ? "attached\n" : "absent\n"; exit }
die "unknown: $act\n" unless $act eq 'detach';
for my $try (1 .. 4) {    # Spotlight and other curious programs keep a new disk busy for a moment
    my @mine = grep { not grep { $_ ne $place } @{ $_->{'mount-point'} || [] } } ours();
    last unless @mine;
    for my $device (grep { m{^/dev/disk\d+$} } map { @{ $_->{'dev-entry'} || [] } } @mine) {
        system('hdiutil', 'detach', $device, $try == 4 ? '-force' : ()) == 0 or sleep 1;
    }
}
