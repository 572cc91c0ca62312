"""The programs of emulated Macs: as strict as Apple's, in the words of their version."""

from collections.abc import Callable

import pytest
from support.local_lab import Bench
from support.macs import NEW, OLD, PLATFORMS, await_
from support.macs import run_as_user as run


@pytest.fixture(scope="module")
def macs(new_bench: Callable[..., Bench]) -> Bench:
    return new_bench(*PLATFORMS)


@pytest.mark.parametrize(
    ("host", "script", "code", "output"),
    [
        (NEW, "sed --version", 1, "sed: illegal option -- -\nusage: sed"),
        (NEW, "echo a > f; sed -i s/a/b/ f", 1, "sed"),  # -i takes the script for its ending
        (NEW, "echo a > f; sed -i '' s/a/b/ f && cat f", 0, "b\n"),
        (NEW, "echo a > f; sed -i.old s/a/c/ f && cat f.old", 0, "a\n"),
        (NEW, "echo a | sed '1{p;q}'", 1, 'sed: 1: "1{p;q}": extra characters at the end of q command\n'),
        (NEW, "echo a | sed -n '1{p;q;}'", 0, "a\n"),
        (NEW, "echo a | grep -P a", 2, "grep: invalid option -- P\n"),
        (OLD, "echo a | grep -P a", 2, "grep: The -P option is not supported\n"),
        (NEW, "echo a | head -c -1", 1, "head: illegal byte count -- -1\n"),
        (NEW, "seq 3 | head -2", 0, "1\n2\n"),
        (NEW, "stat -c %s /bin/sh", 1, "stat: illegal option -- c\n"),
        (NEW, "echo abc > f; stat -f '%z %Su %N' f", 0, "4 lab f\n"),
        (NEW, "find -name f", 1, "find: illegal option -- n\nusage: find"),
        (NEW, "find . -printf x", 1, "find: -printf: unknown primary or operator\n"),
        (NEW, "readlink -f /tmp", 0, "/private/tmp\n"),
        (OLD, "readlink -f /tmp", 1, "readlink: illegal option -- f\nusage: readlink [-n] [file ...]\n"),
        (NEW, "ls /nosuch", 1, "ls: /nosuch: No such file or directory\n"),
        (NEW, "ls --color", 64, "ls: illegal option -- -\n"),
        (NEW, "cp --reflink=never a b", 64, "cp: illegal option -- -\nusage: cp"),
        (OLD, "cp -c a b", 64, "cp: illegal option -- c\nusage: cp"),
        (NEW, "echo x > f; cp -Xp f g && cat g", 0, "x\n"),
        (NEW, "echo x > f; cp -c f g && cat g", 0, "x\n"),
        (NEW, "echo x > f; cp -cX f g", 1, "cp: the -c and -X options may not be specified together\n"),
        (NEW, "echo x > f; cp -c f /dev/g", 1, "cp: /dev/g: clonefile failed: Cross-device link\n"),
        (NEW, "echo x > f; chmod 640 f; ditto --norsrc --noacl f h && cat h && stat -f %Lp h; ls -a | grep BC", 1,
         "x\n640\n"),
        (NEW, "echo x > f; ditto --reflink f h", 1, "ditto: unrecognized option `--reflink'\nUsage: ditto"),
        (NEW, "ditto absent h", 1, "ditto: absent: No such file or directory\n"),
        (NEW, "ditto -c -k a b", 125, "EMULATED MAC: ditto: -c is not emulated\n"),
        (OLD, "mktemp -d", 1, "usage: mktemp"),
        (NEW, "d=$(mktemp -d) && rmdir $d", 0, ""),
        (NEW, "dd if=/dev/zero of=f bs=1m count=2 && stat -f %z f", 0, "2097152\n"),
        (OLD, "dd if=/dev/zero of=f bs=1M count=1", 1, "dd: bs: illegal numeric value\n"),
        (NEW, "sleep 0s", 1, "sleep"),
        (NEW, "timeout 1 true", 127, "not found"),
        (NEW, "nproc", 127, "not found"),
        (NEW, "setsid true", 127, "not found"),
        (NEW, "echo $EPOCHREALTIME", 0, "\n"),  # bash 5
        (OLD, "caffeinate true", 127, "not found"),
        (OLD, "purge", 127, "not found"),
        (NEW, "purge", 1, "Unable to purge disk buffers: Operation not permitted\n"),
        (OLD, "python3 -c 1", 127, "not found"),
        (NEW, "python3 -c 1", 1, "xcode-select: note: No developer tools were found"),
        (NEW, "xcode-select -p", 2, "xcode-select: error: unable to get active developer directory"),
        (OLD, "date +%N", 0, "N\n"),
        (NEW, "rsync --info=progress2 a b", 1, "rsync: unrecognized option `--info=progress2'\nusage: rsync"),
        (OLD, "rsync --info=progress2 a b", 1, "rsync: --info=progress2: unknown option\n"),
        (OLD, "rsync -X a b", 1, "rsync: -X: unknown option\n"),
        (OLD, "rsync --version | sed -n '/./{p;q;}'", 0, "rsync  version 2.6.9  protocol version 29\n"),
        (NEW, "echo y > f; rsync --cache f g && rsync --no-cache f h && cat g h", 0, "y\ny\n"),
        (OLD, "echo y > f; rsync --cache f g && cat g", 0, "y\n"),
        (OLD, "rsync --no-cache f g", 1, "rsync: --no-cache: unknown option\n"),
        (NEW, "rsync --cache=yes f g", 1, "rsync: unrecognized option `--cache=yes'\nusage: rsync"),
        (NEW, "rsync --version", 0, "openrsync: protocol version 29\nrsync version 2.6.9 compatible\n"),
        (NEW, "echo y > f; rsync -a --whole-file --inplace -- f g && cat g", 0, "y\n"),
        (NEW, "ps -o nosuch", 1, "ps: nosuch: keyword not found\n"),
        (NEW, "ps -p 1 -o stat= -o comm= | cut -c 1,5-", 0, "S /sbin/launchd\n"),  # SN if all processes are nice
        (NEW, "ping -W 100 -c 1 -t 5 -D -s 8184 10.99.0.2 | grep -c timeout", 0, "1\n"),  # the MTU is 1500
        (NEW, "ping -c 1 10.99.0.9", 2, "100.0% packet loss\n"),
        (NEW, "ping -c 1 -W 60000 10.99.0.2 | tail -2 | head -1", 0, "1 packets transmitted, 1 packets received, 0.0%"),
        (NEW, "ping nosuch.example", 68, "ping: cannot resolve nosuch.example: Unknown host\n"),
        (NEW, "ping6 -n -D -m -b 16384 -s 1016 -c 1 ::1 | head -2 | cut -d = -f -4", 0,
         "PING6(1064=40+8+1016 bytes) ::1 --> ::1\n1024 bytes from ::1, icmp_seq=0 hlim=64 time="),
        (NEW, "ping6 -n -D -m -b 32768 -s 17000 -c 1 ::1", 2, "ping6: sendmsg: Message too long\n"),
        (NEW, "ping6 -n -s 17000 -b 32768 -c 1 ::1 | grep -c ' 0.0% packet loss'", 0, "1\n"),
        (NEW, "ifconfig en0 mtu 9000; echo $?", 0, "ifconfig: ioctl (set mtu): Operation not permitted\n0\n"),
        (NEW, "sudo ifconfig en0 mtu 9001; echo $?", 0, "ifconfig: ioctl (set mtu): Invalid argument\n0\n"),
        (NEW, "mount -t smbfs", 0, ""),
        (NEW, "mount -t nosuch a b", 72, "mount: exec /sbin/mount_nosuch for b: No such file or directory\n"),
        (NEW, "umount /nosuch", 1, "umount: /nosuch: not currently mounted\n"),
        (NEW, "hdiutil attach ram://8192", 1, "hdiutil: attach failed - no mountable file systems\n"),
        (NEW, "hdiutil detach /dev/disk77", 1, "hdiutil: detach failed - No such file or directory\n"),
        (NEW, "newfs_hfs -v x /dev/disk3", 1, "newfs_hfs: cannot create filesystem on /dev/disk3"),
        (NEW, "networksetup -getdnsservers en0", 4, "en0 is not a recognized network service.\n** Error: The param"),
        (NEW, "networksetup -listvalidMTUrange en0", 0, "Valid MTU Range: 1280-9000\n"),
        (NEW, "sysctl net.inet.tcp.recvspace=1", 1, "Operation not permitted\n"),
        (NEW, "sysctl net.inet.tcp.doautosndbuf", 1, "sysctl: unknown oid 'net.inet.tcp.doautosndbuf'\n"),
        (OLD, "sysctl net.inet.tcp.doautosndbuf", 0, "net: class is not implemented\n"),
        (NEW, "sudo sysctl kern.ipc.maxsockbuf=16777216", 1, "Result too large\n"),
        (NEW, "perl -e 'print $^O'", 0, "darwin"),
        (NEW, "perl -e 'open F, \">\", \"f\"; print fcntl F, 51, 0'", 0, "0 but true"),
        (OLD, "perl -MTime::HiRes -e 'Time::HiRes::clock_gettime(1)'", 255, "unimplemented in this platform\n"),
        (NEW, "command -v iperf3; ls /opt/homebrew/bin", 0, "iperf3\n"),
        (NEW, "awk 'BEGIN { print 1 }'", 0, "1\n"),
        (NEW, f"caffeinate -i -t 600 & {await_('pmset -g | grep caffeinate')}; kill $!", 0,
         " sleep                1 (sleep prevented by caffeinate)\n"),
        (NEW, "caffeinate -i sh -c 'pmset -g assertions'", 0, '(caffeinate): [0x0000000000000001] 00:00:01 Prevent'),
        (NEW, "caffeinate -z", 64, "caffeinate: illegal option -- z\nusage: caffeinate"),
        (OLD, "pmset -g batt", 0, "Currently drawing from 'AC Power'\n"),
        (NEW, "mdutil -s /", 0, "/:\n\tIndexing enabled. \n"),
        (NEW, "sudo mdutil -i off /; mdutil -s /; sudo mdutil -i on / >/dev/null", 0, "/:\n\tIndexing disabled.\n"),
        (NEW, "tmutil status", 0, "    Running = 0;\n"),
        (NEW, "iostat -c 2 -w 1 | awk 'NR > 2 { print NF }'", 0, "9\n9\n"),
        (NEW, "top -l 2 -n 0 -s 1 | grep -c '^CPU usage: .*% idle $'", 0, "2\n"),
        (NEW, "perl -e 'exec qw(ps -o time= -o ucomm= -p), getppid' | grep -c ' 0:[0-9][0-9][.][0-9][0-9] '", 0, "1\n"),
        (NEW, "ps -A -o pid= -o time= -o ucomm= | grep -vc '^ *[0-9]* *[0-9]*:[0-9][0-9][.][0-9][0-9] [^ ]'", 1, "0\n"),
        (NEW, "ps -A -o pid= -o ucomm= | head -1", 0, "    1 launchd\n"),
        (NEW, "netstat -s -p tcp | head -2", 0, "tcp:\n\t0 packets sent\n"),  # the kernel tells only root
        (NEW, "sudo netstat -s -p tcp | grep -c retransmitted", 0, "1\n"),
        (NEW, "/usr/bin/time -p true 2>&1 | tr -d 0-9", 0, "real .\nuser .\nsys .\n"),
        (NEW, "defaults write com.example.x y -bool true; defaults read com.example.x y", 0, "1\n"),
        (NEW, "defaults delete com.example.x && defaults read com.example.x y", 1, "does not exist\n"),
        (NEW, "system_profiler -json SPEthernetDataType", 0, '"spethernet_BSD_Device_Name": "en0"'),
        (OLD, "system_profiler -json SPEthernetDataType", 1, "Usage: system_profiler"),
        (NEW, "hdiutil create -size 1m x.dmg", 125, "EMULATED MAC: hdiutil create: -size is not emulated\n"),
        (NEW, "[ -e /proc/self ] || echo none", 0, "none\n"),
        (NEW, "sudo -u you sudo -n true", 1, "sudo: a password is required\n"),
        (NEW, "sudo visudo -c", 0, "/etc/sudoers: parsed OK\n"),
        (NEW, "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub", 0, "256 SHA256:"),
        (OLD, "ssh-keygen -lf /etc/ssh_host_rsa_key.pub | tr -d a-f0-9", 0, " ::::::::::::::: "),
        (OLD, "ssh-keygen -t ed25519 -f key", 1, "unknown key type ed25519\n"),
        (OLD, "ssh -G x | grep -i ^hostkeyalgorithms", 0, "hostkeyalgorithms ssh-rsa\n"),
        (OLD, "sudo -k true", 1, "usage: sudo -h | -K | -k | -L | -V\n"),
    ],
)  # fmt: skip
def test_what_a_mac_would_not_take_is_refused(macs: Bench, host: str, script: str, code: int, output: str) -> None:
    exit_code, printed = run(macs, host, script)
    assert (exit_code, output in printed) == (code, True), printed


@pytest.mark.parametrize(
    ("host", "refusal"),
    [(NEW, "sudo: a password is required\n"), (OLD, "sudo: sorry, a password is required to run sudo\n")],
)
def test_sudo_refuses_in_the_words_of_its_version(macs: Bench, host: str, refusal: str) -> None:
    path = "/private/etc/sudoers"
    change = f"cp {path} /private/tmp/sudoers; sed -i '' s/NOPASSWD:// {path}"
    with macs.changed(host, change, f"cat /private/tmp/sudoers > {path}; rm /private/tmp/sudoers"):
        assert run(macs, host, "sudo -n true") == (1, refusal)
        code, output = run(macs, host, "echo wrong | sudo -S -p '' true")
        assert code == 1
        assert "Sorry, try again." in output
        assert "WARNING: Improper use of the sudo command" in output
