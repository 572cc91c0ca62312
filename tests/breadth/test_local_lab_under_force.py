"""A local lab that is killed, rebooted or taken down while somebody uses it: nothing of it stays."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from scenarios import test_local_lab as local_lab
from support.again import again
from support.local_lab import Bench, gone

from lab.base.present import present
from lab.local import state

test_further_kills_leave_nothing = again(local_lab.test_nothing_is_left_after_a_kill, "victim", "its parent", "client")


def test_a_delayed_link_has_the_delay_and_carries_jumbo_frames(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--delay", "5ms", "--rate", "none")
    for host in ("server", "client"):
        bench.inside(host, "ip link set dev eth0 mtu 9000")
    times = bench.inside("client", "ping -q -i 0.1 -c 5 -M do -s 8972 server-data")
    fastest = float(present(re.search(r"= ([0-9.]+)/", times))[1])
    assert fastest >= 10.0  # there and back; the machine adds to it
    bench.check_output("local", "down", "--name", bench.name)
    assert not gone(bench.name)


def test_a_lab_comes_up_only_when_its_killed_predecessor_is_tidied_up_after(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    lab = present(state.load(bench.name))
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
LOOK = "ls -d /*/mark /*/*/mark 2>/dev/null; readlink /proc/self/ns/net; cat /sys/class/net/eth0/mtu"


@pytest.mark.parametrize("delay", ["none", "1ms"])
def test_a_reboot_leaves_a_host_its_disk_and_nothing_else(new_bench: Callable[..., Bench], delay: str) -> None:
    bench = new_bench("--delay", delay)
    fresh, before = bench.state(), present(state.load(bench.name))
    for host in state.HOSTS:
        bench.inside(host, LEAVE_SOMETHING_EVERYWHERE)
    network = bench.inside("server", LOOK).splitlines()[-2]
    bench.check_output("local", "reboot", "--name", bench.name, "server")
    *marks, new_network, mtu = bench.inside("server", LOOK).splitlines()
    assert marks == ["/etc/mark", "/root/mark", "/srv/disk/mark", "/var/lib/mark", "/var/tmp/mark"]
    assert new_network != network
    assert mtu == "1500"
    # the other host only saw that the link was down
    assert bench.inside("client", LOOK).splitlines()[-1] == "9000"
    assert "1 received" in bench.inside("client", "ping -q -c 1 server-data")
    bench.inside("server", "rm /*/mark /*/*/mark; rmdir /mnt/ram")
    assert bench.state()["server"] == fresh["server"]
    after = present(state.load(bench.name))
    assert before.hosts["server"] != after.hosts["server"]
    assert before.hosts["client"] == after.hosts["client"]
    # servers end by SIGTERM, so the process that starts a host must not block it
    assert bench.inside("server", "grep SigBlk /proc/1/status").split()[1].strip("0") == ""
    bench.check_output("local", "down", "--name", bench.name)
    assert not gone(bench.name)


def test_a_host_reboots_again_and_again_and_can_be_reached_each_time(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    for host in (*state.HOSTS, *state.HOSTS):
        bench.check_output("local", "reboot", "--name", bench.name, host)
    bench.measure(size="1 MiB", mtu=[9000])


def test_a_run_whose_lab_is_taken_down_ends_at_once_and_says_so(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--rate", "50mbit")
    with bench.started_run(blocks=5, size="40 MiB") as run:
        bench.wait_for("stopwatch.pl", run)
        down = bench.lab("local", "down", "--name", bench.name)
        output, _ = run.communicate(timeout=80)  # a lost host that may come back gets 90 s
    assert down.returncode == 0, down.stderr
    assert run.returncode == 1
    assert "the local lab that this host belonged to was taken down" in output
    assert "Traceback" not in output
    again = bench.lab("restore")
    assert (again.returncode, again.stderr) == (0, "")
    assert "went with the local lab" in again.stdout


def test_commands_inside_end_with_the_lab(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    mark = "612613"
    words = ("sh", "-c", f"echo in; sleep {mark}")
    with bench.started("local", "exec", "--name", bench.name, "client", "--", *words) as inside:
        assert present(inside.stdout).readline() == "in\n"
        other = subprocess.Popen(bench.command("local", "exec", "--name", bench.name, "server", "--", "sleep", mark))
        bench.check_output("local", "down", "--name", bench.name)
        assert inside.wait(60) != 0
        assert other.wait(60) != 0
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if mark.encode() in line]


def test_an_emulated_mac_goes_down_without_a_trace(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--platform", "macos@26")
    attach = "hdiutil attach -nomount ram://65536; diskutil erasevolume HFS+ LAB disk4"
    bench.inside("client", f"sudo -u lab /bin/sh -c 'cd /private/tmp; {attach}'")
    bench.check_output("local", "down", "--name", bench.name)
    assert bench.name not in Path("/proc/mounts").read_text()
