# The helper's table: recognises a command and checks its parameters. The actions are in root_helper.pl; types and actions
# of one system are in root_helper_linux.pl and root_helper_macos.pl.
use strict;
{
our (@TABLE, $uid, $name, $gid, $home);
sub LONGEST_INPUT () { 60_000 }  # less than a pipe holds

sub refuse { print STDERR "file-share-lab: refused: @_\n"; exit 77 }

# Types: a pattern, and a further condition

sub between { my ($least, $most) = @_; return sub { $_[0] >= $least && $_[0] <= $most } }

my ($hex, $text) = ('[0-9a-f]', '"(?:[^"\\\\\0-\x1f\x7f]|\\\\["\\\\/bfnrt]|\\\\u[0-9a-f]{4})*"');
my %types;
sub make_types {
    my $own = quotemeta($home) . "/file-share-lab-${hex}{16}";
    my $kept = qq({"kind": "(?:folder|gvfs-fuse|gvfs-mount)"(?:, "[a-z]+": $text)+});
    my $process = qq({"kind": "process", "directory": $text, "process": "[a-z][a-z0-9.-]{0,30}", "root": false});
    my $interface = '[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,14}';
    my $operation = '(?:' . join('|', $kept, $process, operations($own, $interface)) . ')';
    %types = (
        interface => [$interface],
        mtu => ['[0-9]{2,5}', between(68, 65535)],
        seconds => ['[0-9]{1,4}', between(1, 3600)],
        token => ["${hex}{8}"],
        lock => ["(?:${hex}{8}|lapsed)"],
        process => ['[0-9]{1,10}'],
        record => ["${hex}{8}-[0-9]{6,12}"],
        owner => ['{[ -~]{0,400}}'],
        note => [qq({"number": [0-9]{1,12}, "host": "(?:client|server)", "operation": $operation, "old": $text, )
            . qq("new": $text, "run": "${hex}{8}", "boot": $text, "event": "change"})],
        folder => [$own], ram => ["$own/ram"], mnt => ["$own/mnt"],
        proof => ["(?:file-share-lab-${hex}{16})?"],
        store => ["/(?:[^/\0\n]+/)*file-share-lab-${hex}{16}"],
        in_store => ["/(?:[^/\0\n]+/)*file-share-lab-${hex}{16}/[^\0\n]+"],
        mode => ['7(?:00|11)'],
        account => ['[^\0\n/:]+', sub { $_[0] eq $name }],
        uid => ['[0-9]{1,10}', sub { $_[0] == $uid }],
        gid => ['[0-9]{1,10}', sub { $_[0] == $gid }],
        # a share's source: an address and a path
        nfs => ['\[?[0-9A-Fa-f.:%a-z-]{3,60}\]?:/[^\0-\x1f\x7f]{0,1000}'],
        types_of_system($own),
    );
}

# The values of a template's types in a text, by type; nothing if the text does not match.
sub bind_text {
    my ($template, $given, $repeated) = @_;
    my ($pattern, @names) = ('');
    for my $part (split /(\{\w+\})/, $template) {
        if ($part =~ /^\{(\w+)\}$/) { push @names, $1; $pattern .= "($types{$1}[0])" }
        else { $pattern .= quotemeta $part }
    }
    return $given =~ /\A((?:$pattern){1,1000})\z/ ? { '' => $1 } : undef if $repeated;
    my ($all, @values) = $given =~ /\A($pattern)\z/ or return;
    my %bound = ('' => $all);
    for my $type (@names) {
        my $value = shift @values;
        return if $types{$type}[1] && !$types{$type}[1]->($value);
        $bound{$type} = $value;
    }
    return \%bound;
}

# The entry for these words, with the words from table and types; else the largest number of words that match.
sub find_entry {
    my ($most, $words) = (0, \@_);
    ENTRY: for my $entry (@TABLE) {
        my ($expected, @clean, %bound) = $entry->{words};
        for my $number (0 .. $#$words) {
            my $word = $expected->[$number];
            last unless defined $word;
            my $part = ref $word ? bind_text($$word, $words->[$number])
                : $word eq $words->[$number] ? { '' => $word } : undef;
            next ENTRY unless $part;
            push @clean, $part->{''};
            %bound = (%bound, %$part);
            $most = @clean if @clean > $most;
        }
        return { %$entry, words => \@clean, bound => \%bound } if @clean == @$expected && @clean == @$words;
    }
    return { fits => $most };
}

# Standard input, if the entry takes any, as matched by its template.
sub read_input {
    my ($entry) = @_;
    return unless defined $entry->{given};
    my ($input, $part) = ('');
    while (sysread STDIN, $part, 65536) {
        $input .= $part;
        refuse('standard input is too long') if length $input > LONGEST_INPUT;
    }
    my $bound = bind_text($entry->{given}, $input, $entry->{repeated}) or refuse('what came by standard input');
    %{ $entry->{bound} } = (%{ $entry->{bound} }, %$bound);
    return $bound->{''};
}
}
