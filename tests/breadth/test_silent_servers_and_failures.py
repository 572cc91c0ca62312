"""A server that falls silent, and when failures end a sweep."""

from collections.abc import Callable

import pytest
from support.local_lab import Bench


def test_a_server_that_falls_silent_is_given_up_and_the_sweep_goes_on(new_bench: Callable[..., Bench]) -> None:
    """It stops answering in the middle of a transfer, and neither ends nor closes a connection."""
    bench = new_bench("--rate", "40mbit")
    before = bench.state()
    factors = {"protocol": ["nfs"], "tool": ["cp"], "direction": ["write"], "size": "16 MiB", "blocks": 2}
    sweep = bench.sweep(**factors, slowest=8_000_000)
    freezer = bench.strike_under_way("ganesha", 4_000_000, "pkill", "-STOP", "ganesha")
    with bench.started(*freezer) as watching, bench.started("run", "--hosts", str(bench.hosts), str(sweep)) as run:
        output, _ = run.communicate(timeout=300)
        assert watching.wait() == 0
    first, second = bench.trials()
    assert (first["status"], second["status"]) == ("failed", "ok")
    assert "did not end within 32" in first["reason"]
    assert run.returncode == 1, output
    assert bench.state() == before


@pytest.mark.parametrize(("policy", "count"), [("stop", 1), ("2", 2), ("continue", 3)])
def test_failures_stop_a_sweep_as_it_was_told(bench: Bench, policy: str, count: int) -> None:
    bench.inside("server", "mkdir /srv/small; mount -t tmpfs -o size=1m,mode=1777 small /srv/small")
    try:
        hosts = bench.changed_hosts(share_path="/srv/small")
        factors = {"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], "store": ["disk"], "blocks": 3}
        done = bench.run("--on-failure", policy, hosts=hosts, **factors)
    finally:
        bench.inside("server", "umount /srv/small; rmdir /srv/small")
    assert done.returncode == 1
    assert [trial["status"] for trial in bench.trials()] == ["failed"] * count
    assert (f"stopped after {count} failed trials in a row" in done.stderr) == (policy != "continue")
