"""Servers and mounts that die during a transfer: what the trial costs and says, and that the share is mounted anew."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from faults.observe import Observer, difference
from support.local_lab import Bench
from support.served_shares import share_set_up

from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.results.run_folder import RunFolder

SOON_S = 15.0
BUSY_S = 5.0  # what a machine that does other things may add to it
CUT = ("ip", "link", "set", "dev", "eth0", "down")


@pytest.mark.parametrize(("platform", "protocol", "direction", "program"), [("client=linux", "smb", "write", "smbd")])
def test_a_server_that_is_cut_off_costs_one_trial_and_little_time(
    new_bench: Callable[..., Bench], platform: str, protocol: str, direction: str, program: str
) -> None:
    bench = new_bench("--rate", "40mbit", "--platform", platform)
    port = {"smb": 445, "nfs": 2049}[protocol]
    observer = Observer(bench.name)
    observer.settle()
    before = observer.state()
    factors: dict[str, Any] = {"protocol": [protocol], "tool": ["cp"], "direction": [direction], "blocks": 2}
    cut = bench.strike_under_way(program, 4_000_000 if direction == "write" else 60_000, *CUT)
    # `slowest` gives a deadline of two and a half minutes
    with bench.started(*cut) as cutting, bench.started_run(**factors, size="48 MiB", slowest=400_000) as run:
        assert cutting.wait(240) == 0
        began = time.monotonic()
        bench.wait_for(" exit=-1 ", run, 120)
        noticed_s = time.monotonic() - began
        bench.wait_for('"failed"', run, 120)
        bench.inside("server", "ip link set dev eth0 up")
        output, _ = run.communicate(timeout=300)
    print(f"noticed after {noticed_s:.1f} s")
    first, second = bench.trials()
    assert (first["status"], second["status"]) == ("failed", "ok"), output
    assert f"no longer answers on port {port} ({protocol.upper()})" in first["reason"]
    assert "look whether that host is up" in first["reason"]
    assert noticed_s < SOON_S + BUSY_S
    assert run.returncode == 1, output
    observer.settle()
    assert difference(before, observer.state()) == []


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_used_share_is_mounted_anew(bench: Bench, protocol: str) -> None:
    with share_set_up(bench, protocol) as (session, first_setup):
        client = session.pair.hosts[Role.CLIENT]

        def pids(program: str) -> list[str]:
            return client.run("pgrep", "-f", f"^/usr/libexec/{program} ").stdout.split()

        first, daemon = pids("gvfsd-fuse"), pids(f"gvfsd-{protocol}")
        session.mount_anew(first_setup)
        assert pids("gvfsd-fuse") == first, "nothing was read through it yet"
        session.mount_anew(session.set_up(Case(protocol, "cp", Direction.READ, 1500, "default", "ram", "file", 1)))
        second = pids("gvfsd-fuse")
        assert len(first) == len(second) == 1
        assert second != first
        assert pids(f"gvfsd-{protocol}") == daemon
        path = first_setup.attached.path
        client.shell('echo 1 > "$1/new" && cat "$1/new" && rm "$1/new"', path)


def test_a_mount_whose_process_was_killed_is_put_back(bench: Bench) -> None:
    with share_set_up(bench, "smb") as (session, _):
        session.pair.hosts[Role.CLIENT].run("pkill", "-KILL", "gvfsd-fuse")
        assert "fuse.gvfsd-fuse" in session.pair.hosts[Role.CLIENT].run("cat", "/proc/self/mounts").stdout


def test_a_mount_that_dies_in_the_middle_of_a_transfer_costs_no_trial(bench: Bench) -> None:
    strike = ("pkill", "-SEGV", "-f", "^/usr/libexec/gvfsd-afp ")
    kill = bench.strike_under_way("gvfsd-afp", 8_000_000, *strike, host="client")
    factors = {"protocol": ["afp"], "tool": ["cp"], "direction": ["read"], "size": "64 MiB", "blocks": 2}
    code, output = bench.run_struck(kill, **factors)
    assert code == 0, output
    first, second = (trial for trial in RunFolder(bench.newest()).trials() if trial.protocol == "afp")
    assert (first.status, second.status) == ("ok", "ok")
    tries = first.observed.mount_tries
    assert tries in (2, 3)  # gvfsd-afp also dies by itself
    remark = f"the share was mounted at try {tries} only: gone during the transfer: client: cp: exit code 1: "
    assert any(other.startswith(remark) for other in first.observed.remarks or ())
