# usage: append.pl lay|log|bands BYTES SOURCE TARGET
# lay    creates TARGET with the length of SOURCE, every byte different, and flushes it.
# log    creates TARGET by appending SOURCE in records of BYTES, each flushed before the next.
# bands  overwrites TARGET with SOURCE in bands of BYTES, in scattered order. Each opens, writes, flushes and closes TARGET.
# lay and log refuse a TARGET that exists, bands one that does not. Flushes by F_FULLFSYNC if a Mac has it for that file,
# else by fsync.
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

# Write SOURCE from one place to another at the file's position, with inverted bits if it has to differ.
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

# All numbers below this one, each far from the one before: by a stride near the golden ratio, without a common factor.
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
