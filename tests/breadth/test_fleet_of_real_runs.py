"""A fleet of two sweeps on one pair, with `lab run` as it is: whatever is killed, all is done once, and put back."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
from support.local_lab import Bench, end

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
ENOUGH_S = 300


def fleet_of(bench: Bench) -> str:
    """A fleet file of two sweeps, of six trials each."""
    for name in ("first", "second"):
        factors = {"protocol": ["smb"], "tool": ["cp"], "mtu": [9000], "tcp_space": ["64 KiB"], "blocks": 3}
        bench.sweep(name=name, size="16 MiB", **factors).rename(bench.directory / f"{name}.toml")
    path = bench.directory / "fleet.toml"
    path.write_text(FLEET.format(hosts=bench.hosts))
    return str(path)


def trials(bench: Bench) -> dict[str, list[str]]:
    """The transfers of each sweep so far, by their ids."""
    found: dict[str, list[str]] = {}
    for path in bench.directory.glob("fleets/two/runs/here/*/1/*/trials.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
        found.setdefault(path.parts[-4], []).extend(one["trial_id"] for one in lines if one["protocol"] == "smb")
    return found


def wait_for(bench: Bench, sweep: str, count: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + ENOUGH_S
    while len(trials(bench).get(sweep, [])) < count:
        assert time.monotonic() < deadline, f"{count} trials of {sweep} did not come"
        assert process.poll() is None, process.stdout and process.stdout.read()
        time.sleep(0.05)


def status(bench: Bench, fleet: str) -> dict[str, Any]:
    done = bench.lab("fleet", "status", fleet, "--json")
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _check_that_another_waits(bench: Bench, fleet: str) -> None:
    """A second fleet on the same pair, with a folder of its own, is told by the hosts that they are in use."""
    with bench.started("fleet", "run", fleet, "--queue", "other") as other:
        assert other.stdout
        line = next(line for line in other.stdout if "waits" in line)
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
        end(run, signal.SIGKILL)  # the run is told by the kernel, and puts everything back
        task.wait(120)
    assert bench.state() == before
    with bench.started("fleet", "resume", fleet) as run:
        wait_for(bench, "second", 2, run)
        (task,) = psutil.Process(run.pid).children()
        task.suspend()
        run.kill()
        task.kill()  # nobody puts anything back
        run.wait(60)
    assert bench.state() != before
    assert status(bench, fleet)["counts"] == {"done": 1, "running": 0, "failed": 0, "waiting": 1}
    done = bench.lab("fleet", "resume", fleet)
    assert done.returncode == 0, done.stderr + done.stdout
    assert bench.state() == before
    told = status(bench, fleet)
    assert told["counts"] == {"done": 2, "running": 0, "failed": 0, "waiting": 0}
    assert {sweep: len(ids) for sweep, ids in trials(bench).items()} == {"first": 6, "second": 6}
    assert all(len(set(ids)) == len(ids) for ids in trials(bench).values())
    assert len({task["run"] for task in told["tasks"]}) == 2
    assert len(list(Path(bench.directory).glob("fleets/two/runs/here/*/1/*/run.json"))) == 2
