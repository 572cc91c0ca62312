"""Runs that are killed in the middle, with a short lease or with another controller beside."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from faults.observe import Observer, State, difference, processes

from support.local_lab import HOSTS, Bench, end
from support.waiting import last_look


def wait_for_process(lab: str, host: str, pattern: str, run: subprocess.Popen[str]) -> None:
    """Wait until a process whose words hold ``pattern`` runs on a host, while the run goes on."""
    init = Observer(lab).init(host)
    while not any(re.search(pattern, process.command) for process in processes(init).values()):
        assert run.poll() is None, run.communicate()
        time.sleep(0.05)  # a look takes some milliseconds of the run's time


SMALL: dict[str, Any] = {"protocol": ["smb"], "tool": ["cp"], "mtu": [9000], "tcp_space": ["64 KiB"], "blocks": 3}
HOST_JOURNALS = "ls -d /var/tmp/file-share-lab* /var/lib/file-share-lab* 2>/dev/null; :"


@pytest.fixture
def killed(bench: Bench) -> Iterator[Path]:
    """The folder of a run whose controller was killed in the middle; afterwards both hosts are restored."""
    bench.kill_run('"b001-0001"', **SMALL)
    bench.wait_until_free()
    yield bench.newest()
    bench.lab("restore", "--hosts", str(bench.hosts))


def elsewhere(bench: Bench, folder: Path, same_account: bool) -> Bench:
    """The same local lab used from another folder, by the same account or another."""
    other = Bench(bench.name, folder)
    other.hosts = bench.hosts
    if same_account:
        other.environment = bench.environment
    return other


MACS = ("--platform", "client=macos@15.5", "--platform", "server=macos@10.9")


def prepared(bench: Bench) -> tuple[Bench, Observer, State]:
    """A lab with the shortest lease and small RAM disks, its observer, and its state before a run."""
    sizes = {f"{host}_ram_disk": "64 MiB" for host in ("client", "server")}
    bench.hosts = bench.changed_hosts(lab_lease="30 s", **sizes)
    observer = Observer(bench.name)
    observer.settle()
    return bench, observer, observer.state()


@contextmanager
def in_a_transfer(bench: Bench, protocol: str, blocks: int = 1) -> Iterator[subprocess.Popen[str]]:
    """The controller of a sweep, in the middle of its first transfer."""
    factors: dict[str, Any] = {"tool": ["cp"], "direction": ["write"], "mtu": [9000], "tcp_space": ["64 KiB"]}
    with bench.started_run(protocol=[protocol], blocks=blocks, size="16 MiB", **factors) as run:
        wait_for_process(bench.name, "client", r"stopwatch\.pl \w+ .*cp ", run)
        yield run


def kill_in_a_transfer(bench: Bench, protocol: str) -> None:
    with in_a_transfer(bench, protocol) as run:
        end(run, signal.SIGKILL)


def has_guard(init: int) -> bool:
    """Whether the guard of a lease still runs on the host with this PID 1."""
    folders = (Path(f"/proc/{init}/root{above}/file-share-lab/journal") for above in ("/var/lib", "/private/var/db"))
    return any((folder / "lease.socket").exists() for folder in folders)


def left_at_the_end(observer: Observer, before: State, seconds: float = 300) -> list[str]:
    """What still differs after some seconds, by default long after the lease, or earlier if nothing differs."""
    last_look(lambda: any(has_guard(observer.init(host)) for host in HOSTS), False, seconds)
    return last_look(lambda: difference(before, observer.state()), [], seconds)
