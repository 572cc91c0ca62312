"""Further on each NAS: `lab measure`, a sweep of the share that it has, a run that fails, and `lab restore`."""

import signal
from collections.abc import Callable
from typing import Any

import pytest
from support import nas
from support.local_lab import Bench, end
from support.measured import arrange
from support.other_servers import on_share, serve, wait_until_under_way

SWEEP: dict[str, Any] = {"protocol": ["smb"], "tool": ["cp", "rsync"], "store": ["disk"], "size": "4 MiB"}
LEFT = "find /tmp /srv /var/lib /home /root | grep -v sudo_as_admin; cat /proc/sys/net/ipv4/tcp_rmem"
LARGE = SWEEP | {"size": "256 MiB", "direction": ["write"], "tool": ["cp"]}


@pytest.mark.parametrize("name", nas.NAMES)
def test_a_login_shows_its_processor(new_bench: Callable[..., Bench], name: str) -> None:
    nas.measure_with_login(arrange(new_bench, "--rate", "200mbit"), name)


@pytest.mark.parametrize(
    ("name", "installed"), [*((name, "") for name in nas.NAMES), ("openwrt", "perl"), ("qts", "perl")]
)
def test_a_sweep_of_its_share_a_run_that_fails_and_one_that_is_killed(
    new_bench: Callable[..., Bench], name: str, installed: str
) -> None:
    bench = new_bench("--rate", "200mbit")
    serve(bench)
    system = nas.make_nas(bench, name, installed)
    hosts = nas.hosts_of(bench, system)
    before = bench.inside("server", LEFT)
    trials = bench.measure(hosts=hosts, **SWEEP)
    assert [(trial["status"], trial["verified"]) for trial in trials] == [("ok", True)] * 4
    assert all(trial["server_cpu_s"] is not None for trial in trials)
    bench.check_output("report", str(bench.newest()))
    with bench.started_run(hosts=hosts, **LARGE) as run:
        wait_until_under_way(bench, run)
        assert end(run, signal.SIGKILL)[0] == -signal.SIGKILL
    assert on_share(bench) != []
    bench.wait_until_free()
    bench.check_output("restore")
    assert on_share(bench) == []
    assert bench.inside("server", LEFT) == before
    done = bench.run(hosts=nas.hosts_of(bench, system, share_name="no-such"), **LARGE)
    assert done.returncode == 1
    (trial,) = bench.trials()
    assert "no-such" in trial["reason"]
    assert trial["reason"].endswith("is the name of the share right, and may this account use it?")
    assert bench.inside("server", LEFT) == before
