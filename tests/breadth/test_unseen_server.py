"""A share whose server nobody logs in to: measured through its mount, by SMB and NFS, and nothing of it stays."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from support.local_lab import Bench, end
from support.unseen_server import (
    RESTART_SAMBA,
    SHARE,
    UNMOUNT,
    mount_elsewhere,
    on_share,
    serve,
    unseen_hosts,
)

LARGE = {"size": "256 MiB", "direction": ["write"], "tool": ["cp"], "store": ["disk"], "protocol": ["smb"]}


@pytest.fixture(scope="module")
def served(new_bench: Callable[..., Bench]) -> Bench:
    """A local lab whose server serves a share that is not the lab's."""
    bench = new_bench()
    serve(bench)
    return bench


@pytest.fixture
def bench(served: Bench) -> Iterator[Bench]:
    """The same, with no results; the client must be as before afterwards, and the share empty."""
    for run in served.directory.glob("results/*"):
        run.rename(served.directory / run.name)
    before = served.state()["client"]
    yield served
    assert sorted(set(before) ^ set(served.state()["client"])) == []
    assert on_share(served) == []


def measure(bench: Bench, hosts: Path, **factors: Any) -> list[dict[str, Any]]:
    """The trials of a sweep that went well, and of which a report was made."""
    done = bench.run(hosts=hosts, tool=["cp", "rsync"], store=["disk"], **factors)
    reasons = [trial["reason"] for trial in bench.trials_if_any()]
    assert done.returncode == 0, done.stdout + done.stderr + "\n".join(reasons)
    assert "nobody logs in to the server" in done.stdout + done.stderr
    assert bench.lab("report", str(bench.newest())).returncode == 0
    assert (bench.newest() / "report" / "report.html").is_file()
    lines = (bench.newest() / "trials.jsonl").read_text().splitlines()
    assert {trial["protocol"] for trial in map(json.loads, lines)} == set(factors["protocol"])  # and no ceiling
    return bench.trials()


def wait_until_under_way(bench: Bench, run: Popen[str]) -> None:
    """Wait until some of a payload has reached the share."""
    deadline = time.monotonic() + 120
    while not bench.inside("server", f"find {SHARE} -type f -size +8M"):
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(("protocol", "share"), [("smb", {"name": "labram"}), ("nfs", {"path": SHARE})])
def test_it_is_measured_through_a_mount_of_the_labs_own(bench: Bench, protocol: str, share: dict[str, str]) -> None:
    trials = measure(bench, unseen_hosts(bench, **share), protocol=[protocol], blocks=2)
    assert [(trial["status"], trial["verified"], trial["reason"]) for trial in trials] == [("ok", True, "")] * 8
    assert {trial["server_cpu_s"] for trial in trials} == {None}
    assert all(trial["wire_tx_bytes"] > 4 << 20 for trial in trials if trial["direction"] == "write")
    assert all(trial["wire_rx_bytes"] > 4 << 20 for trial in trials if trial["direction"] == "read")


TREE = """
name = "unseen-trees"
blocks = 1
[workload]
kind = "tree"
profile = "mail"
size = "2 MiB"
[factors]
protocol = ["{protocol}"]
tool = ["cp", "rsync", "metadata"]
metadata.phase = ["create", "stat", "list", "rename", "delete"]
store = ["disk"]
client_sync = ["close"]
"""


@pytest.mark.parametrize(("protocol", "share"), [("smb", {"name": "labram"}), ("nfs", {"path": SHARE})])
def test_a_tree_and_its_names_are_measured_through_a_mount(bench: Bench, protocol: str, share: dict[str, str]) -> None:
    (bench.directory / "trees.toml").write_text(TREE.format(protocol=protocol))
    done = bench.lab("run", "--hosts", str(unseen_hosts(bench, **share)), "trees.toml")
    trials = bench.trials_if_any()
    assert done.returncode == 0, done.stdout + done.stderr + "\n".join(trial["reason"] for trial in trials)
    assert len(trials) == 2 * 2 + 5
    assert {(trial["status"], trial["verified"]) for trial in trials} == {("ok", True)}
    assert {trial["files"] for trial in trials} == {trials[0]["files"]}
    assert trials[0]["files"] > 100


def test_a_share_that_somebody_else_mounted_is_measured_and_stays_mounted(bench: Bench) -> None:
    mounted = mount_elsewhere(bench)
    try:
        trials = measure(bench, unseen_hosts(bench, mounted=mounted), protocol=["smb"])
        assert [(trial["status"], trial["verified"], trial["reason"]) for trial in trials] == [("ok", True, "")] * 4
        assert on_share(bench) == []
        assert bench.inside("client", f"ls -A '{mounted}'") == ""
        assert bench.execute("client", "touch", f"{mounted}/still-there").returncode == 0
        assert bench.execute("client", "rm", f"{mounted}/still-there").returncode == 0
    finally:
        bench.execute("client", "sh", "-c", UNMOUNT)


@pytest.mark.parametrize("mounted", [False, True])
def test_after_a_kill_in_mid_transfer_restore_leaves_nothing(bench: Bench, mounted: bool) -> None:
    share = {"mounted": mount_elsewhere(bench)} if mounted else {"name": "labram"}
    try:
        hosts = unseen_hosts(bench, **share)
        with bench.started("run", "--hosts", str(hosts), str(bench.sweep(**LARGE))) as run:
            wait_until_under_way(bench, run)
            assert end(run, signal.SIGKILL)[0] == -signal.SIGKILL
        bench.wait_until_free()
        assert on_share(bench) != []
        done = bench.lab("restore")
        assert done.returncode == 0, done.stdout + done.stderr
        assert on_share(bench) == []
    finally:
        if mounted:
            bench.execute("client", "sh", "-c", UNMOUNT)


def test_a_share_that_vanishes_in_the_middle_fails_its_trials_and_the_folder_that_stays_is_named(bench: Bench) -> None:
    hosts = unseen_hosts(bench, name="labram")
    with bench.started("run", "--hosts", str(hosts), str(bench.sweep(**LARGE))) as run:
        wait_until_under_way(bench, run)
        bench.inside("server", "pkill smbd")
        output, _ = run.communicate(timeout=400)
    (left,) = bench.inside("server", f"ls -A {SHARE}").splitlines()
    bench.inside("server", f"rm -r {SHARE}/{left}")
    bench.inside("server", RESTART_SAMBA)
    assert run.returncode == 1
    assert f"warning: the folder {left} stays in the share, which is out of reach" in output
    assert "Traceback" not in output
    (trial,) = bench.trials()
    assert trial["status"] == "failed"
    assert trial["reason"].startswith("client: ")
    assert bench.lab("restore").returncode == 0
