"""A controller dies, or sleeps, and nobody restores: the hosts put themselves back, and the run can be gone on with."""

from collections.abc import Callable

from faults.observe import difference
from support.leases import (
    kill_in_a_transfer,
    left_at_the_end,
    prepared,
)
from support.local_lab import Bench


def test_hosts_put_themselves_back_after_a_controller_that_was_killed(new_bench: Callable[..., Bench]) -> None:
    check_that_hosts_put_themselves_back(new_bench("--rate", "200mbit"), "smb")


def check_that_hosts_put_themselves_back(bench: Bench, *protocols: str) -> None:
    """Kill a run of each protocol; wait until the lease ends, and go on with it."""
    bench, observer, before = prepared(bench)
    for protocol in protocols:
        kill_in_a_transfer(bench, protocol)
        assert any("mtu 9000" in what for what in difference(before, observer.state()))
        assert left_at_the_end(observer, before) == []
        restored = bench.lab("restore")
        assert restored.returncode == 0, restored.stdout + restored.stderr
        assert "both hosts were already unlocked (the lease expired" in restored.stdout
        assert difference(before, observer.state()) == []
        resumed = bench.lab("run", "--resume", str(bench.newest()))
        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
        observer.settle()
        assert difference(before, observer.state()) == []
