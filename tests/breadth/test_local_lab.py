"""The local lab itself: what it is made of, and that nothing of it stays."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from support.local_lab import Bench
from support.traces import gone

from lab.local import state


def test_each_host_is_a_machine_of_its_own(bench: Bench) -> None:
    look = "hostname; readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/mnt"
    client, server = ((bench.inside(host, look)).splitlines() for host in state.HOSTS)
    assert (client[0], server[0]) == ("client", "server")
    assert client[-3:] != server[-3:]
    keys = [bench.inside(host, "cat /etc/ssh/ssh_host_ed25519_key") for host in state.HOSTS]
    assert keys[0] != keys[1]


def test_the_link_is_shaped_and_frames_are_what_the_mtu_says(bench: Bench) -> None:
    shape = bench.inside("client", "tc qdisc show dev eth0")
    assert "tbf" in shape
    assert "rate 1Gbit" in shape
    features = bench.inside("server", "ethtool -k eth0")
    for offload in ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload"):
        assert f"{offload}: off" in features
    assert bench.inside("client", "ping -q -c 1 -M do -s 1472 server-data").count("1 received") == 1


def test_a_delayed_link_has_the_delay_and_carries_jumbo_frames(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--delay", "5ms", "--rate", "none")
    for host in ("server", "client"):
        bench.inside(host, "ip link set dev eth0 mtu 9000")
    times = bench.inside("client", "ping -q -i 0.1 -c 5 -M do -s 8972 server-data")
    fastest = float(re.search(r"= ([0-9.]+)/", times)[1])  # type: ignore[index]
    assert fastest >= 10.0  # there and back; how much more is a matter of the machine
    assert bench.lab("local", "down", "--name", bench.name).returncode == 0
    assert not gone(bench.name)


def test_exec_passes_words_exit_code_and_standard_input_through(bench: Bench) -> None:
    words = ("sh", "-c", 'cat; echo "$1"; exit 7', "x", "a  b")
    command = bench.command("local", "exec", "--name", bench.name, "client", "--", *words)
    done = subprocess.run(command, cwd=bench.directory, input="in\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "in\na  b\n")


def test_two_labs_stand_side_by_side_and_down_takes_one(bench: Bench, new_bench: Callable[..., Bench]) -> None:
    other = new_bench()
    bench.inside("client", "echo mine > /run/mark")
    assert other.inside("client", "cat /run/mark 2>/dev/null || echo none") == "none\n"
    bench.inside("client", "rm /run/mark")
    again = other.lab("local", "up", "--name", other.name)
    assert again.returncode == 2
    assert "is up already" in again.stderr
    assert other.lab("local", "down", "--name", other.name).returncode == 0
    assert not gone(other.name)
    assert not other.hosts.exists()
    assert bench.inside("client", "echo alive") == "alive\n"


@pytest.mark.parametrize("victim", ["supervisor", "its parent", "client", "both"])
def test_nothing_is_left_after_a_kill(new_bench: Callable[..., Bench], victim: str) -> None:
    bench = new_bench("--delay", "1ms")
    lab = state.load(bench.name)
    assert lab is not None
    supervisor, cleaner, client = lab.supervisor.pid, lab.cleaner.pid, lab.hosts["client"].pid
    pids = {"supervisor": [supervisor], "its parent": [cleaner], "client": [client], "both": [cleaner, supervisor]}
    if victim == "both":
        os.kill(supervisor, signal.SIGSTOP)  # or it may be half-way through tidying up before its turn comes
    for pid in pids[victim]:
        os.kill(pid, signal.SIGKILL)
    if victim == "both":
        # then only files can be left, and the next command for this lab removes them
        deadline = time.monotonic() + 30
        while any(process.alive() for process in lab.hosts.values()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert bench.lab("local", "down", "--name", bench.name).returncode == 0
    assert not gone(bench.name)
    assert not bench.hosts.exists()


def test_a_lab_comes_up_only_when_its_killed_predecessor_is_tidied_up_after(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    lab = state.load(bench.name)
    assert lab is not None
    os.kill(lab.cleaner.pid, signal.SIGSTOP)
    os.kill(lab.supervisor.pid, signal.SIGKILL)
    again = subprocess.Popen(bench.command("local", "up", "--name", bench.name), cwd=bench.directory)
    try:
        time.sleep(2)  # time enough to take what is there for its own
    finally:
        os.kill(lab.cleaner.pid, signal.SIGCONT)
    assert again.wait(60) == 0
    assert not lab.cleaner.alive()
    assert bench.inside("client", "echo alive") == "alive\n"
    assert bench.hosts.exists()


LEAVE_SOMETHING_EVERYWHERE = """
for folder in /etc /var/lib /var/tmp /root /srv/disk /tmp /run /dev/shm; do echo $$ > $folder/mark; done
mkdir -p /mnt/ram && mount -t tmpfs ram /mnt/ram
printf '4096 65536 65536' > /proc/sys/net/ipv4/tcp_rmem
ip link set dev eth0 mtu 9000
setsid sleep 3600 </dev/null >/dev/null 2>&1 &
"""
LOOK = """
ls -d /*/mark /*/*/mark 2>/dev/null; readlink /proc/self/ns/net; cat /sys/class/net/eth0/mtu
"""


@pytest.mark.parametrize("delay", ["none", "1ms"])
def test_a_reboot_leaves_a_host_its_disk_and_nothing_else(new_bench: Callable[..., Bench], delay: str) -> None:
    bench = new_bench("--delay", delay)
    fresh, before = bench.state(), state.load(bench.name)
    for host in state.HOSTS:
        bench.inside(host, LEAVE_SOMETHING_EVERYWHERE)
    network = bench.inside("server", LOOK).splitlines()[-2]
    assert bench.lab("local", "reboot", "--name", bench.name, "server").returncode == 0
    *marks, new_network, mtu = bench.inside("server", LOOK).splitlines()
    assert marks == ["/etc/mark", "/root/mark", "/srv/disk/mark", "/var/lib/mark", "/var/tmp/mark"]
    assert new_network != network
    assert mtu == "1500"
    # the other host felt no more than that the link was down
    assert bench.inside("client", LOOK).splitlines()[-1] == "9000"
    assert "1 received" in bench.inside("client", "ping -q -c 1 server-data")
    bench.inside("server", "rm /*/mark /*/*/mark; rmdir /mnt/ram")
    assert bench.state()["server"] == fresh["server"]
    after = state.load(bench.name)
    assert before is not None
    assert after is not None
    assert before.hosts["server"] != after.hosts["server"]
    assert before.hosts["client"] == after.hosts["client"]
    # servers end by SIGTERM, which whoever starts a host must not have blocked
    assert bench.inside("server", "grep SigBlk /proc/1/status").split()[1].strip("0") == ""
    assert bench.lab("local", "down", "--name", bench.name).returncode == 0
    assert not gone(bench.name)


def test_a_host_reboots_again_and_again_and_can_be_reached_each_time(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    for host in (*state.HOSTS, *state.HOSTS):
        assert bench.lab("local", "reboot", "--name", bench.name, host).returncode == 0
    done = bench.run(size="1 MiB", mtu=[9000])
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_lab_that_is_not_up_cannot_reboot(bench: Bench) -> None:
    done = bench.lab("local", "reboot", "--name", "no-such-lab", "server")
    assert (done.returncode, "is not up" in done.stderr) == (2, True)


def test_status_and_hosts_file_tell_what_is_up(bench: Bench) -> None:
    assert bench.name in bench.lab("local", "status").stdout
    found = bench.lab("check", "--json", "--hosts", str(bench.hosts))
    assert found.returncode == 0, found.stdout + found.stderr
    report = json.loads(found.stdout)
    assert report["hosts"]["client"]["hostname"] == "client"
    by_subject = {finding["subject"]: finding for finding in report["findings"]}
    assert {"afp", "nfs", "smb", "ssh"} <= set(by_subject)
    assert all(by_subject[name]["level"] == "ok" for name in ("afp", "nfs", "smb", "ssh", "link path"))


def test_an_argument_that_cannot_be_is_explained(bench: Bench) -> None:
    for arguments, words in (
        (("--name", "No Good"), "lower-case"),
        (("--name", "x", "--rate", "fast"), "--rate 'fast'"),
        (("--name", "x", "--delay", "long"), "--delay 'long'"),
    ):
        done = bench.lab("local", "up", *arguments)
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr
