# The disk images of a Mac, from hdiutil's property list. In perl, because no shell tool of every Mac reads one.
use strict;

# Each image: its values by key, and under "devices" a hash of the same kind for each of its devices.
sub images {
    my $plist = `hdiutil info -plist`;
    die "cannot read hdiutil info -plist\n" if $? or $plist !~ m{</plist>\s*$};
    my ($depth, $key, @images) = (0, '');
    while ($plist =~ m{<(/?)(dict|key|string|integer)>([^<]*)}g) {
        my ($end, $tag, $text) = ($1, $2, $3);
        my $image = $images[-1];
        if ($tag eq 'dict') {
            $depth += $end ? -1 : 1;
            push @images, { devices => [] } if $depth == 2 and not $end;
            push @{ $image->{devices} }, {} if $depth == 3 and not $end;
        }
        elsif ($end) { next }
        elsif ($tag eq 'key') { $key = $text }
        elsif ($depth == 2) { $image->{$key} = $text }
        elsif ($depth == 3) { $image->{devices}[-1]{$key} = $text }
    }
    return @images;
}

sub value { my ($of, $key) = @_; return defined $of->{$key} ? $of->{$key} : '' }
