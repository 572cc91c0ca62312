"""A controller that reaches the server through a router, over the link whose settings it changes."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.local import state
from support.local_lab import Bench, succeeded
from support.paths import TESTS
from support.waiting import wait_until

CONTROLLER = TESTS / "support" / "cut_off_controller.py"

# Controller (MTU 9000) - router - server. Between router and server, packets above 1500 bytes are lost silently,
# as on a switch that cannot carry them. $1, $2 and $3 are the processes of router, controller and server
NETWORK = """
nsenter --target $1 --net -- ip link add r0 mtu 9000 type veth peer name c0 netns $2
nsenter --target $1 --net -- ip link add r1 mtu 1500 type veth peer name mgmt0 netns $3
nsenter --target $1 --net -- sh -c 'ip address add 10.98.1.1/24 dev r0; ip address add 10.98.2.1/24 dev r1
    ip link set r0 up; ip link set r1 up; echo 1 > /proc/sys/net/ipv4/ip_forward'
nsenter --target $2 --net -- sh -c 'ip link set c0 mtu 9000; ip address add 10.98.1.2/24 dev c0; ip link set c0 up
    ip link set lo up; ip route add 10.98.2.0/24 via 10.98.1.1'
nsenter --target $3 --net -- sh -c 'ip address add 10.98.2.2/24 dev mgmt0; ip link set mgmt0 up
    ip route add 10.98.1.0/24 via 10.98.2.1'
"""


@contextmanager
def namespace() -> Iterator[subprocess.Popen[bytes]]:
    """A network namespace that lives as long as its process."""
    with subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo; exec sleep 600"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process
        finally:
            process.kill()


class Network:
    def __init__(self, bench: Bench, folder: Path, controller: subprocess.Popen[bytes]):
        self.bench, self.folder, self.controller = bench, folder, controller

    def started(self, change: str, how: str, revert_after_s: int) -> subprocess.Popen[str]:
        enter = ["nsenter", "--target", str(self.controller.pid), "--net", "--"]
        command = [*enter, sys.executable, str(CONTROLLER), str(self.folder), "mgmt0", change, how, str(revert_after_s)]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def unplug(self) -> None:
        """Remove the controller's cable, then its whole network."""
        enter = ["nsenter", "--target", str(self.controller.pid), "--net", "--"]
        subprocess.run([*enter, "ip", "link", "delete", "c0"], check=True)
        self.controller.kill()

    def link(self) -> str:
        """The MTU and flags of the server's link."""
        return self.bench.inside("server", "cat /sys/class/net/mgmt0/mtu; cat /sys/class/net/mgmt0/flags")

    def restore(self) -> None:
        """Restore from the server's own journal: the controller's is lost."""
        succeeded(self.bench.lab("restore", "--hosts", str(self.bench.hosts)))

    def wait_for(self, link: str) -> None:
        wait_until(lambda: self.link() == link, "the link of before")


@pytest.fixture(scope="module")
def lab_of_its_own(new_bench: Callable[..., Bench]) -> Bench:
    return new_bench()


@pytest.fixture
def network(lab_of_its_own: Bench, tmp_path: Path) -> Iterator[Network]:
    bench = lab_of_its_own
    files = state.directory(bench.name)
    key = (files / "known_hosts").read_text().splitlines()[1].split(" ", 1)[1]
    (tmp_path / "known_hosts").write_text(f"10.98.2.2 {key}\n")
    config = {
        "host": "10.98.2.2", "user": "root", "identity": str(state.identity(bench.name, "ed25519")), "sudo": "none",
        "known_hosts": str(tmp_path / "known_hosts"), "data_address": "10.98.2.2",
    }  # fmt: skip
    (tmp_path / "server.json").write_text(json.dumps(config))
    with namespace() as router, namespace() as controller:
        pids = [str(pid) for pid in (router.pid, controller.pid, bench.init("server"))]
        subprocess.run(["sh", "-ec", NETWORK, "sh", *pids], check=True)
        before = bench.state()
        yield Network(bench, tmp_path, controller)
        after = bench.state()
    bench.inside("server", "ip link delete mgmt0 2>/dev/null; :")  # the kernel removes namespaces later
    assert after == before
