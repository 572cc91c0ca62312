# Adds a line to a file of exports, or removes it. Every other byte, and the file itself, stay as they were.
# ARGV: add FILE LINE; remove FILE LINE BEFORE, where BEFORE is missing, unended (no newline at its end) or whole.
use strict; use warnings;
use IO::Handle;

my ($act, $file, $line, $before) = @ARGV;
exit if $act eq 'remove' && !-e $file;
open my $exports, $act eq 'add' ? '+>>' : '+<', $file or die "$file: $!\n";
binmode $exports;
seek $exports, 0, 0;
my $text = do { local $/; <$exports> };
$text = '' unless defined $text;
if ($act eq 'add') {
    my $gap = $text =~ /[^\n]\z/ ? "\n" : '';
    seek $exports, 0, 2;
    print $exports "$gap$line\n" and close $exports or die "$file: $!\n";
    exit;
}
my $start = index "\n$text", "\n$line\n";
exit if $start < 0;
my $rest = substr $text, $start + 1 + length $line;
$start-- if $before eq 'unended' && $start > 0 && $rest eq '';  # the newline that was put before ours
seek $exports, $start, 0 or die "$file: $!\n";
print $exports $rest and $exports->flush and truncate $exports, $start + length $rest or die "$file: $!\n";
close $exports or die "$file: $!\n";
unlink $file if $before eq 'missing' && !-s $file;
