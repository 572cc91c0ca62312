"""Two emulated Macs: how strict they are, what really happens below, and a sweep between them that leaves nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from support.local_lab import HOSTS, Bench

from lab.check.hardware import assumptions_about
from lab.platforms.macos.platform import MacOS

NEW, OLD = "client", "server"  # macOS 15.5 and Mac OS X 10.6.8
# What a sweep changes on a Mac and below it, and must not leave; ps has what has ended in parentheses
STATE = r"""
ifconfig en0 | grep -v inet6; sysctl -a | grep -v -e loadavg -e swapusage; mount; hdiutil info -plist
cat /linux/proc/sys/net/ipv4/tcp_rmem /linux/proc/sys/net/ipv4/tcp_wmem; cut -d ' ' -f 2,3 /linux/proc/self/mounts
find /private/tmp /private/var/tmp /private/var/db /Volumes /Users /dev -name pts -prune -o -print | sort
ps -A -o command= | grep -v -e ^ps -e '/grep$' -e '/sort$' -e '^grep' -e '^sort' -e sshd -e /bin/ps |
    grep -v -e '^sh -c' -e '^(' | sort
"""


def await_(look: str) -> str:
    """A command that tries another until it succeeds, for two minutes, and then fails."""
    return f"tries=0; until {look}; do tries=$((tries + 1)); [ $tries -lt 600 ] || exit 1; sleep 0.2; done"


@pytest.fixture(scope="module")
def macs(new_bench: Callable[..., Bench]) -> Bench:
    """Two Macs, of 2024 and of 2009."""
    return new_bench("--platform", f"{NEW}=macos@15.5", "--platform", f"{OLD}=macos@10.6")


def run(macs: Bench, host: str, script: str) -> tuple[int, str]:
    """What a script does as the user who logs in: its exit code, and all that it prints."""
    words = ("sudo", "-u", "lab", "/bin/sh", "-c", f"exec 2>&1; cd /private/tmp; {script}")
    done = macs.execute(host, *words)
    return done.returncode, done.stdout


def told(macs: Bench, host: str, script: str) -> str:
    code, said = run(macs, host, script)
    assert code == 0, said
    return said


@pytest.mark.parametrize(
    ("host", "script", "code", "said"),
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
        (NEW, "ps -p 1 -o stat= -o comm= | cut -c 1,5-", 0, "S /sbin/launchd\n"),  # SN where all of it is nice
        (NEW, "ping -W 100 -c 1 -t 5 -D -s 8184 10.99.0.2 | grep -c timeout", 0, "1\n"),  # the MTU is 1500
        (NEW, "ping -c 1 10.99.0.9", 2, "100.0% packet loss\n"),
        (NEW, "ping -c 1 -W 60000 10.99.0.2 | tail -2 | head -1", 0, "1 packets transmitted, 1 packets received, 0.0%"),
        (NEW, "ping nosuch.example", 68, "ping: cannot resolve nosuch.example: Unknown host\n"),
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
        (NEW, "hdiutil create x.dmg", 125, "EMULATED MAC: hdiutil: create is not emulated\n"),
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
def test_what_a_mac_would_not_take_is_refused(macs: Bench, host: str, script: str, code: int, said: str) -> None:
    found, text = run(macs, host, script)
    assert (found, said in text) == (code, True), text


def test_a_ram_disk_lives_as_on_a_mac(macs: Bench) -> None:
    """Attached by a user, mounted at NAME 1 where NAME is taken, busy while it is in use, and gone in the end."""
    told(macs, NEW, "sudo mkdir '/Volumes/My Disk'")
    device = told(macs, NEW, "hdiutil attach -nomount ram://65536").split()[0]
    assert device == "/dev/disk4"
    assert told(macs, NEW, f"ls -l {device}").startswith("brw-r----- 1 lab ")
    assert "case-insensitive HFS Plus volume" in told(macs, NEW, f"diskutil erasevolume HFS+ 'My Disk' {device}")
    line = "/dev/disk4 on /Volumes/My Disk 1 (hfs, local, nodev, nosuid, noowners, mounted by lab)\n"
    assert line in told(macs, NEW, "mount")
    place = "'/Volumes/My Disk 1'"
    told(macs, NEW, f"echo kept > {place}/file; umount {place}; mkdir m; mount -t hfs {device} m")
    assert told(macs, NEW, "cat m/file") == "kept\n"  # what was on the disk outlives its mount
    size = int(told(macs, NEW, "df -k m | sed 1d").split()[1])
    assert 0.9 * 32768 < size < 32768
    code, said = run(macs, NEW, "cd m && umount /private/tmp/m")
    assert (code, said) == (1, "umount(/private/tmp/m): Resource busy -- try 'diskutil unmount'\n")
    code, said = run(macs, NEW, "cd m && hdiutil detach disk4")
    assert (code, said) == (16, 'hdiutil: couldn\'t eject "disk4" - Resource busy\n')
    assert told(macs, NEW, "hdiutil detach disk4") == '"disk4" unmounted.\n"disk4" ejected.\n'
    told(macs, NEW, "rmdir m; sudo rmdir '/Volumes/My Disk'; [ ! -e /dev/disk4 ] && [ -z \"$(ls /Volumes)\" ]")


def test_an_apfs_volume_lands_on_another_device(macs: Bench) -> None:
    told(macs, NEW, "hdiutil attach -nomount ram://131072; diskutil erasevolume APFS LAB disk4")
    assert "/dev/disk5s1 on /Volumes/LAB (apfs, local, nodev, nosuid, journaled" in told(macs, NEW, "mount")
    assert told(macs, NEW, "diskutil eject disk4") == "Disk disk4 ejected\n"
    told(macs, NEW, "hdiutil attach -nomount ram://131072; diskutil apfs createContainer /dev/disk4")
    said = told(macs, NEW, "diskutil apfs addVolume disk5 APFS lab -nomount")
    assert "\nDisk from APFS operation: disk5s1\n" in said
    told(macs, NEW, "mkdir m; sudo mount -t apfs -o noatime /dev/disk5s1 m")
    assert "/dev/disk5s1 on /private/tmp/m (apfs, local, journaled, noatime)\n" in told(macs, NEW, "mount")
    told(macs, NEW, "sudo umount m; rmdir m; hdiutil detach /dev/disk4; [ ! -e /dev/disk5s1 ]")
    assert run(macs, OLD, "hdiutil attach -nomount ram://131072; diskutil erasevolume APFS LAB disk1")[0] == 1
    assert told(macs, OLD, "diskutil eject disk1") == "Disk /dev/disk1 ejected\n"


def test_a_disk_belongs_to_who_attached_it(macs: Bench) -> None:
    told(macs, NEW, "sudo hdiutil attach -nomount ram://65536")
    code, said = run(macs, NEW, "newfs_hfs -v x /dev/rdisk4")
    assert (code, said) == (1, "newfs_hfs: cannot create filesystem on /dev/rdisk4: Permission denied\n")
    assert run(macs, NEW, "hdiutil detach disk4")[0] == 1
    told(macs, NEW, "sudo hdiutil detach disk4")


def test_tcp_sizes_reach_the_sockets(macs: Bench) -> None:
    size = (
        "perl -MSocket -e 'socket S, PF_INET, SOCK_STREAM, 6; print unpack \"i\", getsockopt S, SOL_SOCKET, SO_RCVBUF'"
    )
    wanted = "for name in recvspace=98304 doautorcvbuf=0; do sudo sysctl -w net.inet.tcp.$name; done"
    assert "net.inet.tcp.recvspace: 131072 -> 98304\n" in told(macs, NEW, wanted)
    assert told(macs, NEW, size) == "98304"
    told(macs, NEW, "sudo sysctl -w net.inet.tcp.recvspace=131072 net.inet.tcp.doautorcvbuf=1")
    assert told(macs, NEW, size) == "131072"
    # 10.6 raises small buffers while few sockets exist
    told(macs, OLD, "sudo sysctl -w net.inet.tcp.recvspace=65536")
    assert told(macs, OLD, size) == "262140"
    told(macs, OLD, "sudo sysctl -w net.inet.tcp.sockthreshold=0")
    assert told(macs, OLD, size) == "65536"
    told(macs, OLD, "sudo sysctl -w net.inet.tcp.sockthreshold=64")


def test_faults_happen_as_often_as_is_asked_for(macs: Bench) -> None:
    def fault(name: str, times: str) -> None:
        done = macs.lab("local", "fault", "--name", macs.name, NEW, name, times)
        assert done.returncode == 0, done.stderr

    told(macs, NEW, "hdiutil attach -nomount ram://65536")
    fault("eject-busy", "2")
    assert [run(macs, NEW, "hdiutil detach disk4")[0] for _ in range(3)] == [16, 16, 0]
    fault("mtu-refused", "1")
    assert "Invalid argument" in told(macs, NEW, "sudo ifconfig en0 mtu 9000; ifconfig en0 | grep 'mtu 1500'")
    fault("sysctl-refused", "1")
    assert run(macs, NEW, "sudo sysctl net.inet.tcp.recvspace=65536")[0] == 1
    fault("link-flap", "1")
    after = f"sudo ifconfig en0 mtu 1500; ifconfig en0 | grep status; {await_('ifconfig en0 | grep -w active')}"
    assert told(macs, NEW, after).splitlines()[-2:] == ["\tstatus: inactive", "\tstatus: active"]
    assert macs.lab("local", "fault", "--name", macs.name, NEW, "nosuch").returncode == 2


@pytest.mark.parametrize(
    ("host", "refusal"),
    [
        (NEW, "sudo: a password is required\n"),
        (OLD, "sudo: sorry, a password is required to run sudo\n"),
    ],
)
def test_sudo_refuses_in_the_words_of_its_version(macs: Bench, host: str, refusal: str) -> None:
    path = "/private/etc/sudoers"
    macs.inside(host, f"cp {path} /private/tmp/sudoers; sed -i '' s/NOPASSWD:// {path}")
    try:
        assert run(macs, host, "sudo -n true") == (1, refusal)
        code, said = run(macs, host, "echo wrong | sudo -S -p '' true")
        assert code == 1
        assert "Sorry, try again." in said
        assert "WARNING: Improper use of the sudo command" in said
    finally:
        macs.inside(host, f"cat /private/tmp/sudoers > {path}; rm /private/tmp/sudoers")


def test_a_whole_sweep_over_ssh_leaves_nothing(macs: Bench) -> None:
    """With another MTU and pinned buffers, both ways, between two Macs; and every text says what they are."""
    for host in HOSTS:  # whose links are up about a second after the hosts are
        told(macs, host, await_("ifconfig en0 | grep -w active"))
    before = {host: macs.inside(host, STATE) for host in HOSTS}
    done = macs.run(mtu=[9000], tcp_space=["64 KiB"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert [(trial["status"], trial["reason"]) for trial in macs.trials()] == [("ok", "")] * 2
    assert {trial["effective"]["client_mtu"] for trial in macs.trials()} == {"9000"}
    after = {host: macs.inside(host, STATE) for host in HOSTS}
    assert {host: _differing(before[host], after[host]) for host in HOSTS} == {host: [] for host in HOSTS}
    run_json = json.loads((macs.newest() / "run.json").read_text())
    assert run_json["emulated"] == "emulated Mac, not a measurement of a Mac"
    assert {facts["os"].split(" (")[0] for facts in run_json["hosts"].values()} == {"macOS 15.5", "Mac OS X 10.6.8"}
    assert macs.lab("report").returncode == 0
    for name in ("post.md", "report.html", "figures/throughput.svg"):
        text = (macs.newest() / "report" / name).read_text()
        assert "emulated Mac, not a measurement of a Mac" in text, name


def test_they_are_what_the_lab_takes_macs_for(macs: Bench) -> None:
    """Every question that `lab check --hardware` has for a Mac of their versions, but for those about time."""
    done = macs.lab("check", "--hosts", str(macs.hosts), "--hardware", "--json")
    rows = [row for row in json.loads(done.stdout)["findings"] if row["subject"].endswith(" hardware")]
    differing = [row["message"] for row in rows if row["level"] == "warning"]
    assert [said for said in differing if "iostat" not in said and "processor time" not in said] == []
    asked = {host: sum(row["level"] != "note" for row in rows if row["subject"].startswith(host)) for host in HOSTS}
    versions = {NEW: (15, 5), OLD: (10, 6)}
    assert asked == {
        host: sum(bool(row.ask) and row.holds_for(version) for row in assumptions_about(MacOS))
        for host, version in versions.items()
    }


def test_a_reboot_forgets_what_was_in_memory(macs: Bench) -> None:
    told(macs, NEW, "echo kept > /Users/lab/file; hdiutil attach -nomount ram://65536; sudo ifconfig en0 mtu 9000")
    told(macs, NEW, "sudo sysctl -w net.inet.tcp.recvspace=65536")
    session = told(macs, NEW, "sysctl -n kern.bootsessionuuid")
    assert macs.lab("local", "reboot", "--name", macs.name, NEW).returncode == 0
    assert (
        told(macs, NEW, "cat /Users/lab/file; rm /Users/lab/file; sysctl -n net.inet.tcp.recvspace") == "kept\n131072\n"
    )
    assert (
        told(macs, NEW, "ifconfig en0 | grep -c 'mtu 1500'; hdiutil info | grep images") == "1\nimages          : 0\n"
    )
    assert told(macs, NEW, "sysctl -n kern.bootsessionuuid") != session


def _differing(before: str, after: str) -> list[str]:
    return sorted(set(before.splitlines()) ^ set(after.splitlines()))
