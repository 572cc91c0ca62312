"""A fleet of two sweeps on one pair, with the real `lab run`: whatever is killed, each sweep is done once."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
from support.local_lab import Bench, end
from support.waiting import wait_until

from lab.base.present import present

FLEET = """\
name = "two"
retry_after = "1 s"
[[pairs]]
hosts = ["{hosts}"]
name = "here"
[[tasks]]
sweep = "first.toml"
[[tasks]]
sweep = "second.toml"
"""


def fleet_of(bench: Bench) -> str:
    """A fleet file of two sweeps with six trials each."""
    for name in ("first", "second"):
        factors = {"protocol": ["smb"], "tool": ["cp"], "mtu": [9000], "tcp_space": ["64 KiB"], "blocks": 3}
        bench.sweep(name=name, size="16 MiB", **factors).rename(bench.directory / f"{name}.toml")
    path = bench.directory / "fleet.toml"
    path.write_text(FLEET.format(hosts=bench.hosts))
    return str(path)


def trials(bench: Bench) -> dict[str, list[str]]:
    """The ids of the transfers of each sweep so far."""
    ids: dict[str, list[str]] = {}
    for path in bench.directory.glob("fleets/two/runs/here/*/1/*/trials.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
        ids.setdefault(path.parts[-4], []).extend(line["trial_id"] for line in lines if line["protocol"] == "smb")
    return ids


def wait_for(bench: Bench, sweep: str, count: int, process: subprocess.Popen[str]) -> None:
    what = f"{count} trials of {sweep}"
    wait_until(lambda: len(trials(bench).get(sweep, [])) >= count, what, 300, process)


def status(bench: Bench, fleet: str) -> Any:
    return json.loads(bench.check_output("fleet", "status", fleet, "--json"))


def _check_that_another_waits(bench: Bench, fleet: str) -> None:
    """The hosts tell a second fleet, which has a folder of its own, that they are in use."""
    with bench.started("fleet", "run", fleet, "--queue", "other") as other:
        line = next(line for line in present(other.stdout) if "waits" in line)
        assert re.search(r"here/first/1: waits: client: in use by root@.* \(process [0-9]+, since ", line)
        code, printed = end(other, signal.SIGTERM)
    assert (code, "what is done is kept, `lab fleet resume` goes on" in printed) == (143, True)
    journal = (bench.directory / "other/journal.jsonl").read_text()
    outcomes = [json.loads(line).get("outcome") for line in journal.splitlines()]
    assert outcomes[2] == "held"
    assert set(outcomes) <= {None, "held", "stopped"}


def test_a_controller_that_is_killed_with_and_without_its_run_loses_and_doubles_nothing(bench: Bench) -> None:
    before, fleet = bench.state(), fleet_of(bench)
    with bench.started("fleet", "run", fleet) as run:
        wait_for(bench, "first", 2, run)
        (task,) = psutil.Process(run.pid).children()
        task.suspend()  # on a busy machine it would end while the other fleet is tried
        _check_that_another_waits(bench, fleet)
        task.resume()
        assert (os.getsid(task.pid), status(bench, fleet)["counts"]["running"]) == (task.pid, 1)
        end(run, signal.SIGKILL)  # the kernel tells the run, which restores the hosts
        task.wait(120)
    assert bench.state() == before
    with bench.started("fleet", "resume", fleet) as run:
        wait_for(bench, "second", 2, run)
        (task,) = psutil.Process(run.pid).children()
        task.suspend()
        run.kill()
        task.kill()  # nobody restores anything
        run.wait(60)
    assert bench.state() != before
    assert status(bench, fleet)["counts"] == {"done": 1, "running": 0, "failed": 0, "waiting": 1}
    bench.check_output("fleet", "resume", fleet)
    assert bench.state() == before
    done = status(bench, fleet)
    assert done["counts"] == {"done": 2, "running": 0, "failed": 0, "waiting": 0}
    assert {sweep: len(ids) for sweep, ids in trials(bench).items()} == {"first": 6, "second": 6}
    assert all(len(set(ids)) == len(ids) for ids in trials(bench).values())
    assert len({task["run"] for task in done["tasks"]}) == 2
    assert len(list(Path(bench.directory).glob("fleets/two/runs/here/*/1/*/run.json"))) == 2
