# usage: mac_sampler.pl FILE INTERFACE
# Once a second appends to FILE "@ SECONDS", the row of iostat about that second, and what netstat says of the interface
# and vm_stat of the memory, as "COMMAND:line". Ends when the folder of FILE is gone.
# iostat is the only one that tells of the processor, and runs all the time: the other two are started each second, which
# takes a few milliseconds.
use strict;
use warnings;
use Fcntl;
use Time::HiRes ();

my $LARGEST = 4 << 20;    # bytes: nobody has read this file for long
my ($file, $interface) = @ARGV;
(my $folder = $file) =~ s{/[^/]*$}{};

# As in the stopwatch: its readings are laid beside these.
my $monotonic = eval { Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) > 0 };
sub now { return $monotonic ? Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) : Time::HiRes::time() }

sub said {
    my ($kept, @command) = @_;
    open my $pipe, '-|', @command or die "$command[0]: $!\n";
    return map { "$command[0]:$_" } grep { /$kept/ } <$pipe>;
}

sub append {
    my ($text) = @_;
    my $flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | ((-s $file || 0) > $LARGEST ? O_TRUNC : 0);
    sysopen my $handle, $file, $flags or return;
    syswrite $handle, $text;
}

open my $iostat, '-|', 'iostat', '-w', '1' or die "iostat: $!\n";
append('');
my $rows = 0;
while (my $row = <$iostat>) {
    last unless -d $folder;
    next unless $row =~ /^[\d.\s]+$/ and $rows++;    # the first row is about all the time since the start
    my @net = said(qr/^Name|<Link#/, 'netstat', '-I', $interface, '-b', '-n');
    my @memory = said(qr/page size|^Pages (free|inactive|speculative)|outs:/, 'vm_stat');
    append(join '', sprintf("@ %.3f\n", now()), "iostat:$row", @net, @memory);
}
