"""A share whose server nobody logs in to: measured through its mount, by SMB and NFS, and nothing of it stays."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench, end
from support.other_servers import LARGE, UNMOUNT, mount_elsewhere, on_share, unseen_hosts, wait_until_under_way


def measure(bench: Bench, hosts: Path, **factors: Any) -> list[dict[str, Any]]:
    """The trials of a sweep that went well, and can be reported."""
    done = bench.run(hosts=hosts, tool=["cp", "rsync"], store=["disk"], **factors)
    reasons = [trial["reason"] for trial in bench.trials_if_any()]
    assert done.returncode == 0, done.stdout + done.stderr + "\n".join(reasons)
    assert "nobody logs in to the server" in done.stdout + done.stderr
    bench.check_output("report", str(bench.newest()))
    assert (bench.newest() / "report" / "report.html").is_file()
    lines = (bench.newest() / "trials.jsonl").read_text().splitlines()
    assert {trial["protocol"] for trial in map(json.loads, lines)} == set(factors["protocol"])  # there is no ceiling
    return bench.trials()


@pytest.mark.parametrize(("protocol", "share"), [("smb", {"name": "labram"})])
def test_an_unseen_server_is_measured_through_a_mount_of_the_lab(
    unseen: Bench, protocol: str, share: dict[str, str]
) -> None:
    trials = measure(unseen, unseen_hosts(unseen, **share), protocol=[protocol], blocks=2)
    assert [(trial["status"], trial["verified"], trial["reason"]) for trial in trials] == [("ok", True, "")] * 8
    assert {trial["server_cpu_s"] for trial in trials} == {None}
    assert all(trial["wire_tx_bytes"] > 4 << 20 for trial in trials if trial["direction"] == "write")
    assert all(trial["wire_rx_bytes"] > 4 << 20 for trial in trials if trial["direction"] == "read")


def test_a_share_that_somebody_else_mounted_is_measured_and_stays_mounted(unseen: Bench) -> None:
    mounted = mount_elsewhere(unseen)
    try:
        trials = measure(unseen, unseen_hosts(unseen, mounted=mounted), protocol=["smb"])
        assert [(trial["status"], trial["verified"], trial["reason"]) for trial in trials] == [("ok", True, "")] * 4
        assert on_share(unseen) == []
        assert unseen.inside("client", f"ls -A '{mounted}'") == ""
        unseen.inside("client", f"touch '{mounted}/still-there' && rm '{mounted}/still-there'")
    finally:
        unseen.execute("client", "sh", "-c", UNMOUNT)


@pytest.mark.parametrize("mounted", [False])
def test_restore_after_a_kill_leaves_nothing(unseen: Bench, mounted: bool) -> None:
    share = {"mounted": mount_elsewhere(unseen)} if mounted else {"name": "labram"}
    try:
        hosts = unseen_hosts(unseen, **share)
        with unseen.started_run(hosts=hosts, **LARGE) as run:
            wait_until_under_way(unseen, run)
            assert end(run, signal.SIGKILL)[0] == -signal.SIGKILL
        unseen.wait_until_free()
        assert on_share(unseen) != []
        unseen.check_output("restore")
        assert on_share(unseen) == []
    finally:
        if mounted:
            unseen.execute("client", "sh", "-c", UNMOUNT)
