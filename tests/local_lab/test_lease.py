"""`kill -9` of the controller, and nobody restores: the hosts put themselves back, and the run can be gone on with."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable

import pytest
from faults.observe import Observer, difference, processes
from support.local_lab import Bench, end

LEASE_S = 30
DEADLINE_S = 300.0
LINUX: tuple[str, ...] = ()
MACS = ("--platform", "client=macos@15.5", "--platform", "server=macos@10.9")


def kill_in_a_transfer(bench: Bench, protocol: str) -> None:
    """Run a sweep, and ``kill -9`` the controller in the middle of its first transfer."""
    factors = {"tool": ["cp"], "direction": ["write"], "mtu": [9000], "tcp_space": ["64 KiB"], "size": "16 MiB"}
    sweep = bench.sweep(protocol=[protocol], **factors)
    init = Observer(bench.name).init("client")
    with bench.started("run", "--hosts", str(bench.hosts), str(sweep)) as run:
        while not any(re.search(r"stopwatch\.pl \w+ .*cp ", process.command) for process in processes(init).values()):
            assert run.poll() is None, run.communicate()
            time.sleep(0.01)
        end(run, signal.SIGKILL)


@pytest.mark.parametrize(
    ("options", "protocols"), [(LINUX, ("smb", "nfs", "afp")), (MACS, ("smb", "nfs"))], ids=["linux", "macs"]
)
def test_hosts_put_themselves_back_after_a_controller_that_was_killed(
    new_bench: Callable[..., Bench], options: tuple[str, ...], protocols: tuple[str, ...]
) -> None:
    bench = new_bench("--rate", "200mbit", *options)
    sizes = {f"{host}_ram_disk": "64 MiB" for host in ("client", "server")}
    bench.hosts = bench.changed_hosts(lab_lease=f"{LEASE_S} s", **sizes)
    observer = Observer(bench.name)
    observer.settle()
    before = observer.state()
    for protocol in protocols:
        kill_in_a_transfer(bench, protocol)
        killed = time.monotonic()
        left = difference(before, observer.state())
        assert any("mtu 9000" in what for what in left), left
        while (left := difference(before, observer.state())) and time.monotonic() < killed + DEADLINE_S:
            time.sleep(0.5)
        assert left == []
        print(f"{protocol}: as before {time.monotonic() - killed:.1f} s after the controller was killed")
        restored = bench.lab("restore")
        assert restored.returncode == 0, restored.stdout + restored.stderr
        assert "on both hosts nobody had the lock any more" in restored.stdout
        assert difference(before, observer.state()) == []
        resumed = bench.lab("run", "--resume", str(bench.newest()))
        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
        observer.settle()
        assert difference(before, observer.state()) == []
