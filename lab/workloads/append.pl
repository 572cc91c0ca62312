# usage: append.pl lay|log|bands BYTES SOURCE TARGET
# lay    makes TARGET as long as SOURCE, with another byte in every place, and flushes it.
# log    makes TARGET by appending SOURCE in records of BYTES, each flushed before the next is written.
# bands  writes SOURCE over what TARGET holds in bands of BYTES, in an order that jumps about. For each TARGET is opened,
#        written, flushed and closed.
# A file that is to be made must not be there; of bands none is made. Flushed is by F_FULLFSYNC where a Mac has it for
# that file, and by fsync elsewhere.
use strict;
use warnings;
use Fcntl;
use IO::Handle;

my ($F_FULLFSYNC, $CHUNK) = (51, 1 << 20);    # <sys/fcntl.h> of macOS; perl's Fcntl does not know it
my ($mode, $piece, $source, $target) = @ARGV;
sysopen my $from, $source, O_RDONLY or die "$source: $!\n";
my $size = -s $from;

sub start { my ($flags) = @_; sysopen my $file, $target, O_WRONLY | $flags or die "$target: $!\n"; return $file }

sub flush_file {
    my ($file) = @_;
    return if $^O eq 'darwin' && fcntl $file, $F_FULLFSYNC, 0;
    $file->sync or die "$target: $!\n";
}

sub put {
    my ($file, $data) = @_;
    for (my $at = 0; $at < length $data;) {
        my $count = syswrite $file, $data, length($data) - $at, $at;
        die "$target: $!\n" unless defined $count;
        $at += $count;
    }
}

# Writes what SOURCE has from one place to another to where the file stands, less its bits where it is to differ.
sub copy {
    my ($file, $at, $end, $is_other) = @_;
    defined sysseek $from, $at, 0 or die "$source: $!\n";
    while ($at < $end) {
        my $count = sysread $from, my $data, $end - $at < $CHUNK ? $end - $at : $CHUNK;
        die "$source: $!\n" unless defined $count;
        die "$source: it became shorter\n" if $count == 0;
        put($file, $is_other ? ~$data : $data);
        $at += $count;
    }
}

sub finish { my ($file) = @_; close $file or die "$target: $!\n" }

sub common { my ($one, $other) = @_; ($one, $other) = ($other, $one % $other) while $other; return $one }

# Every number below this one, each once, far from the one before: a stride without a common factor, near the golden one.
sub scattered {
    my ($count) = @_;
    my $stride = int $count * 0.618;
    $stride++ while $count && common($stride, $count) != 1;
    return map { $_ * $stride % $count } 0 .. $count - 1;
}

sub lay {
    my $file = start(O_CREAT | O_EXCL);
    copy($file, 0, $size, 1);
    flush_file($file);
    finish($file);
}

sub end_of { my ($at) = @_; return $at + $piece < $size ? $at + $piece : $size }

sub write_log {
    my $file = start(O_CREAT | O_EXCL | O_APPEND);
    for (my $at = 0; $at < $size; $at += $piece) {
        copy($file, $at, end_of($at), 0);
        flush_file($file);
    }
    finish($file);
}

sub write_bands {
    for my $at (map { $_ * $piece } scattered(int(($size + $piece - 1) / $piece))) {
        my $file = start(0);
        defined sysseek $file, $at, 0 or die "$target: $!\n";
        copy($file, $at, end_of($at), 0);
        flush_file($file);
        finish($file);
    }
}

if ($mode eq 'lay') { lay() }
elsif ($mode eq 'log') { write_log() }
else { write_bands() }
