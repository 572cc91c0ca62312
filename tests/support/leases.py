"""A run with the shortest lease, killed in a transfer, and what its hosts still have of it."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.observe import Observer, State, difference

from support.local_lab import HOSTS, Bench, end
from support.under_way import wait_for_process

LEASE_S = 30

DEADLINE_S = 300.0

MACS = ("--platform", "client=macos@15.5", "--platform", "server=macos@10.9")


def prepared(bench: Bench) -> tuple[Bench, Observer, State]:
    """A lab with the shortest lease and small RAM disks, what looks at it, and how it is before a run."""
    sizes = {f"{host}_ram_disk": "64 MiB" for host in ("client", "server")}
    bench.hosts = bench.changed_hosts(lab_lease=f"{LEASE_S} s", **sizes)
    observer = Observer(bench.name)
    observer.settle()
    return bench, observer, observer.state()


@contextmanager
def in_a_transfer(bench: Bench, protocol: str, blocks: int = 1) -> Iterator[subprocess.Popen[str]]:
    """The controller of a sweep, in the middle of its first transfer."""
    factors = {"tool": ["cp"], "direction": ["write"], "mtu": [9000], "tcp_space": ["64 KiB"], "size": "16 MiB"}
    sweep = bench.sweep(protocol=[protocol], blocks=blocks, **factors)
    with bench.started("run", "--hosts", str(bench.hosts), str(sweep)) as run:
        wait_for_process(bench.name, "client", r"stopwatch\.pl \w+ .*cp ", run)
        yield run


def kill_in_a_transfer(bench: Bench, protocol: str) -> None:
    """Run a sweep, and ``kill -9`` its controller."""
    with in_a_transfer(bench, protocol) as run:
        end(run, signal.SIGKILL)


def has_guard(init: int) -> bool:
    """Whether the guard of a lease is still there on the host with this PID 1."""
    folders = (Path(f"/proc/{init}/root{above}/file-share-lab/journal") for above in ("/var/lib", "/private/var/db"))
    return any((folder / "lease.socket").exists() for folder in folders)


def left_at_the_end(observer: Observer, before: State) -> list[str]:
    """What still differs, once nothing does or the lease is long over. A look at everything takes a second."""
    deadline = time.monotonic() + DEADLINE_S
    while any(has_guard(observer.init(host)) for host in HOSTS) and time.monotonic() < deadline:
        time.sleep(0.2)
    while (left := difference(before, observer.state())) and time.monotonic() < deadline:
        time.sleep(1)
    return left
