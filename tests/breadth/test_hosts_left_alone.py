"""A controller dies, or sleeps, and nobody restores: the hosts put themselves back, and the run can be gone on with."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults.observe import Observer, State, difference
from support.local_lab import HOSTS, Bench, end
from support.under_way import wait_for_process

LEASE_S = 30
DEADLINE_S = 300.0
LINUX: tuple[str, ...] = ()
MACS = ("--platform", "client=macos@15.5", "--platform", "server=macos@10.9")
WITHOUT_PERL = ("--platform", "client=macos@26", "--platform", "server=macos@15.5")


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


def without_perl(bench: Bench) -> Bench:
    """Macs as Apple has announced them: the python3 of the Command Line Tools stands in."""
    for host in ("client", "server"):
        bench.inside(host, "rm /usr/bin/perl; xcode-select -p >/dev/null 2>&1 || xcode-select --install")
    return bench


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


@pytest.mark.parametrize(
    ("options", "protocols"),
    [(LINUX, ("smb", "nfs", "afp")), (MACS, ("smb", "nfs")), (WITHOUT_PERL, ("smb", "nfs"))],
    ids=["linux", "macs", "macs without perl"],
)
def test_hosts_put_themselves_back_after_a_controller_that_was_killed(
    new_bench: Callable[..., Bench], options: tuple[str, ...], protocols: tuple[str, ...]
) -> None:
    bench = new_bench("--rate", "200mbit", *options)
    bench, observer, before = prepared(without_perl(bench) if options == WITHOUT_PERL else bench)
    for protocol in protocols:
        kill_in_a_transfer(bench, protocol)
        assert any("mtu 9000" in what for what in difference(before, observer.state()))
        assert left_at_the_end(observer, before) == []
        restored = bench.lab("restore")
        assert restored.returncode == 0, restored.stdout + restored.stderr
        assert "on both hosts nobody had the lock any more" in restored.stdout
        assert difference(before, observer.state()) == []
        resumed = bench.lab("run", "--resume", str(bench.newest()))
        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
        observer.settle()
        assert difference(before, observer.state()) == []


def test_a_controller_that_slept_finds_out_and_measures_on_settings_made_anew(new_bench: Callable[..., Bench]) -> None:
    bench, observer, before = prepared(new_bench("--rate", "40mbit"))
    with in_a_transfer(bench, "smb", blocks=2) as run:
        run.send_signal(signal.SIGSTOP)
        assert [what for what in left_at_the_end(observer, before) if "controller: " not in what] == []
        run.send_signal(signal.SIGCONT)
        output, _ = run.communicate(timeout=600)
    first, second = bench.trials()
    assert (first["status"], second["status"]) == ("failed", "ok"), output
    for host in ("client", "server"):
        assert f"{host}: it has heard nothing of this run for as long as `lease`" in output
    observer.settle()
    assert difference(before, observer.state()) == []


def test_what_a_mac_cannot_put_back_waits_for_lab_restore_and_keeps_nothing_else(
    new_bench: Callable[..., Bench],
) -> None:
    bench, observer, before = prepared(new_bench("--rate", "200mbit", *MACS))
    fault = ("local", "fault", "--name", bench.name, "client", "mtu-refused")
    kill_in_a_transfer(bench, "nfs")
    assert bench.lab(*fault, "9999").returncode == 0
    journal = "/private/var/db/file-share-lab/journal"
    for host in ("client", "server"):
        bench.inside(host, f"while [ -e {journal}/lease.socket ]; do sleep 0.2; done")
    bench.wait_until_free()
    records = bench.inside("client", f"cat {journal}/*-[0-9]*").splitlines()
    assert {json.loads(record)["operation"]["kind"] for record in records} == {"folder", "mac-mtu"}
    assert [what for what in left_but_journal(observer, before) if "9000" not in what] == []
    assert bench.lab(*fault, "0").returncode == 0
    restored = bench.lab("restore")
    assert restored.returncode == 0, restored.stdout + restored.stderr
    observer.settle()
    assert difference(before, observer.state()) == []


def left_but_journal(observer: Observer, before: State) -> list[str]:
    """What differs, but for the host journal."""
    return [what for what in difference(before, observer.state()) if "/file-share-lab" not in what]
