"""Servers that are gone in the middle of a transfer: the trial is lost at once, not at its deadline, and says why."""

import time
from collections.abc import Callable

import pytest
from faults.observe import Observer, difference
from support.local_lab import Bench

SOON_S = 15.0
BUSY_S = 5.0  # what a machine that does other things may add to it
CUT = ("ip", "link", "set", "dev", "eth0", "down")


@pytest.mark.parametrize(
    ("platform", "protocol", "direction", "program"),
    [("client=linux", "smb", "write", "smbd")],
)
def test_a_server_that_is_cut_off_costs_one_trial_and_little_time(
    new_bench: Callable[..., Bench], platform: str, protocol: str, direction: str, program: str
) -> None:
    bench = new_bench("--rate", "40mbit", "--platform", platform)
    port = {"smb": 445, "nfs": 2049}[protocol]
    observer = Observer(bench.name)
    observer.settle()
    before = observer.state()
    factors = {"protocol": [protocol], "tool": ["cp"], "direction": [direction], "size": "48 MiB", "blocks": 2}
    sweep = bench.sweep(**factors, slowest=400_000)  # a deadline of two minutes and a half
    cut = bench.strike_under_way(program, 4_000_000 if direction == "write" else 60_000, *CUT)
    with bench.started(*cut) as cutting, bench.started("run", "--hosts", str(bench.hosts), str(sweep)) as run:
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
