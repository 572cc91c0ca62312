"""Two emulated Macs: what their programs really change, and a sweep between them that leaves nothing."""

import json
from collections.abc import Callable

import pytest
from faults.observe import MAC_TRANSIENT
from support.local_lab import HOSTS, Bench, succeeded
from support.macs import NEW, OLD, PLATFORMS, VERSIONS, await_, output_of
from support.macs import run_as_user as run

from lab.check.hardware import assumptions_about
from lab.platforms.macos.platform import MacOS

# what a sweep changes on a Mac and on the Linux below it, and must restore
STATE = r"""
ifconfig en0 | grep -v inet6; sysctl -a | grep -v -e loadavg -e swapusage; mount; hdiutil info -plist
cat /linux/proc/sys/net/ipv4/tcp_rmem /linux/proc/sys/net/ipv4/tcp_wmem; cut -d ' ' -f 2,3 /linux/proc/self/mounts
find /private/tmp /private/var/tmp /private/var/db /Volumes /Users /dev -name pts -prune -o -print
"""
PROCESSES = ("ps", "-A", "-o", "command=")


@pytest.fixture(scope="module")
def macs(new_bench: Callable[..., Bench]) -> Bench:
    return new_bench(*PLATFORMS)


def state(macs: Bench, host: str) -> set[str]:
    return {*macs.inside(host, STATE).splitlines(), *list_processes(macs, host)}


def list_processes(macs: Bench, host: str) -> list[str]:
    """What runs on a Mac, except ps itself, SSH, and the compilation of emulated programs after a start.

    ps runs alone, because the list would show a pipeline too. Ended processes are in parentheses.
    """
    output = succeeded(macs.execute(host, *PROCESSES)).stdout
    left_out = ("sshd", MAC_TRANSIENT, " ".join(PROCESSES))
    lines = (line for line in output.splitlines() if not line.startswith("("))
    return [line for line in lines if not any(part in line for part in left_out)]


def test_a_ram_disk_lives_as_on_a_mac(macs: Bench) -> None:
    """A user attaches it; it is mounted at NAME 1 if NAME is taken, busy while in use, and gone in the end."""
    output_of(macs, NEW, "sudo mkdir '/Volumes/My Disk'")
    device = output_of(macs, NEW, "hdiutil attach -nomount ram://65536").split()[0]
    assert device == "/dev/disk4"
    assert output_of(macs, NEW, f"ls -l {device}").startswith("brw-r----- 1 lab ")
    assert "case-insensitive HFS Plus volume" in output_of(macs, NEW, f"diskutil erasevolume HFS+ 'My Disk' {device}")
    line = "/dev/disk4 on /Volumes/My Disk 1 (hfs, local, nodev, nosuid, noowners, mounted by lab)\n"
    assert line in output_of(macs, NEW, "mount")
    place = "'/Volumes/My Disk 1'"
    output_of(macs, NEW, f"echo kept > {place}/file; umount {place}; mkdir m; mount -t hfs {device} m")
    assert output_of(macs, NEW, "cat m/file") == "kept\n"  # what was on the disk outlives its mount
    size = int(output_of(macs, NEW, "df -k m | sed 1d").split()[1])
    assert 0.9 * 32768 < size < 32768
    code, output = run(macs, NEW, "cd m && umount /private/tmp/m")
    assert (code, output) == (1, "umount(/private/tmp/m): Resource busy -- try 'diskutil unmount'\n")
    code, output = run(macs, NEW, "cd m && hdiutil detach disk4")
    assert (code, output) == (16, 'hdiutil: couldn\'t eject "disk4" - Resource busy\n')
    assert output_of(macs, NEW, "hdiutil detach disk4") == '"disk4" unmounted.\n"disk4" ejected.\n'
    output_of(macs, NEW, "rmdir m; sudo rmdir '/Volumes/My Disk'; [ ! -e /dev/disk4 ] && [ -z \"$(ls /Volumes)\" ]")


def test_an_apfs_volume_lands_on_another_device(macs: Bench) -> None:
    output_of(macs, NEW, "hdiutil attach -nomount ram://131072; diskutil erasevolume APFS LAB disk4")
    assert "/dev/disk5s1 on /Volumes/LAB (apfs, local, nodev, nosuid, journaled" in output_of(macs, NEW, "mount")
    assert output_of(macs, NEW, "diskutil eject disk4") == "Disk disk4 ejected\n"
    output_of(macs, NEW, "hdiutil attach -nomount ram://131072; diskutil apfs createContainer /dev/disk4")
    output = output_of(macs, NEW, "diskutil apfs addVolume disk5 APFS lab -nomount")
    assert "\nDisk from APFS operation: disk5s1\n" in output
    output_of(macs, NEW, "mkdir m; sudo mount -t apfs -o noatime /dev/disk5s1 m")
    assert "/dev/disk5s1 on /private/tmp/m (apfs, local, journaled, noatime)\n" in output_of(macs, NEW, "mount")
    output_of(macs, NEW, "sudo umount m; rmdir m; hdiutil detach /dev/disk4; [ ! -e /dev/disk5s1 ]")
    assert run(macs, OLD, "hdiutil attach -nomount ram://131072; diskutil erasevolume APFS LAB disk1")[0] == 1
    assert output_of(macs, OLD, "diskutil eject disk1") == "Disk /dev/disk1 ejected\n"


def test_a_disk_belongs_to_who_attached_it(macs: Bench) -> None:
    output_of(macs, NEW, "sudo hdiutil attach -nomount ram://65536")
    code, output = run(macs, NEW, "newfs_hfs -v x /dev/rdisk4")
    assert (code, output) == (1, "newfs_hfs: cannot create filesystem on /dev/rdisk4: Permission denied\n")
    assert run(macs, NEW, "hdiutil detach disk4")[0] == 1
    output_of(macs, NEW, "sudo hdiutil detach disk4")


def test_tcp_sizes_reach_the_sockets(macs: Bench) -> None:
    made = "socket S, PF_INET, SOCK_STREAM, 6"
    size = f"perl -MSocket -e '{made}; print unpack \"i\", getsockopt S, SOL_SOCKET, SO_RCVBUF'"
    wanted = "for name in recvspace=98304 doautorcvbuf=0; do sudo sysctl -w net.inet.tcp.$name; done"
    assert "net.inet.tcp.recvspace: 131072 -> 98304\n" in output_of(macs, NEW, wanted)
    assert output_of(macs, NEW, size) == "98304"
    output_of(macs, NEW, "sudo sysctl -w net.inet.tcp.recvspace=131072 net.inet.tcp.doautorcvbuf=1")
    assert output_of(macs, NEW, size) == "131072"
    # 10.6 raises small buffers while few sockets exist
    output_of(macs, OLD, "sudo sysctl -w net.inet.tcp.recvspace=65536")
    assert output_of(macs, OLD, size) == "262140"
    output_of(macs, OLD, "sudo sysctl -w net.inet.tcp.sockthreshold=0")
    assert output_of(macs, OLD, size) == "65536"
    output_of(macs, OLD, "sudo sysctl -w net.inet.tcp.sockthreshold=64")


def test_faults_happen_as_often_as_requested(macs: Bench) -> None:
    def fault(name: str, times: str) -> None:
        macs.check_output("local", "fault", "--name", macs.name, NEW, name, times)

    output_of(macs, NEW, "hdiutil attach -nomount ram://65536")
    fault("eject-busy", "2")
    assert [run(macs, NEW, "hdiutil detach disk4")[0] for _ in range(3)] == [16, 16, 0]
    fault("mtu-refused", "1")
    assert "Invalid argument" in output_of(macs, NEW, "sudo ifconfig en0 mtu 9000; ifconfig en0 | grep 'mtu 1500'")
    fault("sysctl-refused", "1")
    assert run(macs, NEW, "sudo sysctl net.inet.tcp.recvspace=65536")[0] == 1
    fault("link-flap", "1")
    after = f"sudo ifconfig en0 mtu 1500; ifconfig en0 | grep status; {await_('ifconfig en0 | grep -w active')}"
    assert output_of(macs, NEW, after).splitlines()[-2:] == ["\tstatus: inactive", "\tstatus: active"]
    assert macs.lab("local", "fault", "--name", macs.name, NEW, "nosuch").returncode == 2


def test_a_whole_sweep_over_ssh_leaves_nothing(macs: Bench) -> None:
    """The sweep uses another MTU and fixed buffers, both ways; every text says that the Macs are emulated."""
    for host in HOSTS:  # whose links are up about a second after the hosts are
        output_of(macs, host, await_("ifconfig en0 | grep -w active"))
    before = {host: state(macs, host) for host in HOSTS}
    trials = macs.measure(mtu=[9000], tcp_space=["64 KiB"])
    assert [(trial["status"], trial["reason"]) for trial in trials] == [("ok", "")] * 2
    assert {trial["effective"]["client_mtu"] for trial in trials} == {"9000"}
    assert {host: sorted(before[host] ^ state(macs, host)) for host in HOSTS} == {host: [] for host in HOSTS}
    run_json = macs.run_json()
    assert run_json["emulated"] == "emulated Mac, not a measurement of a Mac"
    assert {facts["os"].split(" (")[0] for facts in run_json["hosts"].values()} == {"macOS 15.5", "Mac OS X 10.6.8"}
    macs.check_output("report")
    for name in ("post.md", "post-appendix.md", "report.html", "figures/throughput.svg"):
        text = (macs.newest() / "report" / name).read_text()
        assert "emulated Mac, not a measurement of a Mac" in text, name


def test_emulated_macs_are_what_the_lab_assumes_of_macs(macs: Bench) -> None:
    """Asks every question of `lab check --hardware` for Macs of these versions, except questions about time."""
    done = macs.lab("check", "--hosts", str(macs.hosts), "--hardware", "--json")
    rows = [row for row in json.loads(done.stdout)["findings"] if row["subject"].endswith(" hardware")]
    warnings = [row["message"] for row in rows if row["level"] == "warning"]
    assert [message for message in warnings if "iostat" not in message and "processor time" not in message] == []
    asked = {host: sum(row["level"] != "note" for row in rows if row["subject"].startswith(host)) for host in HOSTS}
    assert asked == {
        host: sum(bool(row.ask) and row.holds_for(version) for row in assumptions_about(MacOS))
        for host, version in VERSIONS.items()
    }


def test_a_reboot_forgets_what_was_in_memory(macs: Bench) -> None:
    output_of(macs, NEW, "echo kept > /Users/lab/file; hdiutil attach -nomount ram://65536; sudo ifconfig en0 mtu 9000")
    output_of(macs, NEW, "sudo sysctl -w net.inet.tcp.recvspace=65536")
    session = output_of(macs, NEW, "sysctl -n kern.bootsessionuuid")
    macs.check_output("local", "reboot", "--name", macs.name, NEW)
    look = "cat /Users/lab/file; rm /Users/lab/file; sysctl -n net.inet.tcp.recvspace"
    assert output_of(macs, NEW, look) == "kept\n131072\n"
    look = "ifconfig en0 | grep -c 'mtu 1500'; hdiutil info | grep images"
    assert output_of(macs, NEW, look) == "1\nimages          : 0\n"
    assert output_of(macs, NEW, "sysctl -n kern.bootsessionuuid") != session
