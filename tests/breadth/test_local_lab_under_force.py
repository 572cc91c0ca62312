"""A local lab whose processes are killed and whose hosts are rebooted: nothing of it stays."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from scenarios.test_local_lab import test_nothing_is_left_after_a_kill as check_that_nothing_is_left
from support.local_lab import Bench
from support.traces import gone

from lab.local import state


@pytest.mark.parametrize("victim", ["its parent", "client"])
def test_nothing_is_left_after_another_kill(new_bench: Callable[..., Bench], victim: str) -> None:
    check_that_nothing_is_left(new_bench, victim)


def test_a_delayed_link_has_the_delay_and_carries_jumbo_frames(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--delay", "5ms", "--rate", "none")
    for host in ("server", "client"):
        bench.inside(host, "ip link set dev eth0 mtu 9000")
    times = bench.inside("client", "ping -q -i 0.1 -c 5 -M do -s 8972 server-data")
    fastest = float(re.search(r"= ([0-9.]+)/", times)[1])  # type: ignore[index]
    assert fastest >= 10.0  # there and back; how much more is a matter of the machine
    assert bench.lab("local", "down", "--name", bench.name).returncode == 0
    assert not gone(bench.name)


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
