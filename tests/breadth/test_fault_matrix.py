"""The fault matrix: a sample of it, and that it sees what it is there to see."""

import os
import subprocess
import sys

import pytest
from faults.observe import Observer, difference
from support.local_lab import Bench
from support.paths import TESTS

from lab.local.network import token_bucket

QUEUE = " ".join(token_bucket("1gbit", relayed=False))
LEFT = {
    "file /var/tmp/left": ("touch /var/tmp/left", "rm /var/tmp/left"),
    "file /etc/hosts": (  # same length and same time
        "cp -p /etc/hosts /root/h && sed -i s/localhost/lOcalhost/ /etc/hosts && touch -r /root/h /etc/hosts",
        "cat /root/h > /etc/hosts; rm /root/h",
    ),
    "file /srv/disk": ("chmod 700 /srv/disk", "chmod 755 /srv/disk"),
    "mount ": ("mount -t tmpfs left /mnt", "umount /mnt"),
    "process sleep 3600": ("setsid sleep 3600 </dev/null >/dev/null 2>&1 &", "pkill -x sleep"),
    "sysctl net/ipv4/tcp_rmem": (
        "cat /proc/sys/net/ipv4/tcp_rmem > /dev/rmem; echo 4096 65536 65536 > /proc/sys/net/ipv4/tcp_rmem",
        "cat /dev/rmem > /proc/sys/net/ipv4/tcp_rmem; rm /dev/rmem",
    ),
    "link eth0": ("ip link set dev eth0 mtu 1400", "ip link set dev eth0 mtu 1500"),
    "address eth0": ("ip address add 10.99.0.77/24 dev eth0", "ip address del 10.99.0.77/24 dev eth0"),
    "queue eth0": ("tc qdisc del dev eth0 root", f"tc qdisc add dev eth0 root {QUEUE}"),
}


@pytest.mark.usefixtures("root")
def test_in_the_sample_nothing_is_dirty_lost_or_wrong() -> None:
    check_sample("commands", "1")


def check_sample(name: str, clients: str) -> None:
    command = [sys.executable, "-m", "faults", "--sample", name, "--clients", clients]
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_whatever_a_run_leaves_on_a_host_is_seen(bench: Bench) -> None:
    observer = Observer(bench.name)
    before = observer.state()
    bench.inside("server", "\n".join(leave for leave, _ in LEFT.values()))
    left = difference(before, observer.state())
    bench.inside("server", "\n".join(remove for _, remove in LEFT.values()))
    assert [what for what in LEFT if not any(f" server: {what}" in line for line in left)] == []
    assert [line for line in left if " client: " in line] == []
    assert difference(before, observer.state()) == []
