"""What a run is estimated to take against what real runs took: within 20 % where the hosts were measured before."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from support.paths import RUN_CAPTURES, unpack_run

from lab.design.pace import ASSUMED_BYTES_PER_S, Pace
from lab.design.plan import plan
from lab.design.sweep_file import load_sweep
from lab.results.run_folder import RunFolder
from lab.run.begin import pace
from lab.run.case.catalogue import CATALOGUE


def unpack(name: str, place: Path) -> RunFolder:
    """A kept run of a real lab below ``results``, as if on the hosts of ``hosts.ini``."""
    run = RunFolder(unpack_run(name, place / "results" / name))
    run.update(hosts_file=str((place / "hosts.ini").resolve()))
    return run


def newest(place: Path, hosts: str = "hosts.ini") -> Pace:
    return pace.newest(place / "results", place / hosts)


@pytest.mark.parametrize("name", ["demo", "demo-again", "guests", "macs"])
def test_the_first_block_of_a_run_says_what_all_of_it_takes_within_20_percent(tmp_path: Path, name: str) -> None:
    run = unpack(name, tmp_path)
    lines = [line for line in run.trials_path.read_text().splitlines() if json.loads(line)["block"] == 1]
    run.trials_path.write_text("\n".join(lines) + "\n")
    usual = newest(tmp_path)
    assert usual.source.endswith(name)
    estimated_s = plan(load_sweep(RUN_CAPTURES / name / "sweep.toml"), CATALOGUE, pace=usual).estimated_s
    begin, end = (datetime.fromisoformat(run.text(name)) for name in ("started_at", "finished_at"))
    assert estimated_s == pytest.approx((end - begin).total_seconds(), rel=0.2)


def test_a_run_on_other_hosts_or_of_few_trials_or_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    run = unpack("demo", tmp_path)
    assert newest(tmp_path, "other.ini") == Pace()
    (tmp_path / "results/zzz").mkdir()
    (tmp_path / "results/zzz/run.json").write_text("{")
    assert newest(tmp_path).source.endswith("demo")
    lines = [line for line in run.trials_path.read_text().splitlines() if json.loads(line)["protocol"] != "link"]
    run.trials_path.write_text("\n".join(lines[:3]) + "\n")
    assert newest(tmp_path) == Pace()


def test_a_case_that_was_not_measured_has_the_speed_of_those_most_like_it() -> None:
    sweep = load_sweep(RUN_CAPTURES / "demo" / "sweep.toml")
    case = plan(sweep, CATALOGUE).cases[0]
    words = (case.protocol, str(case.direction), case.tool, str(case.tcp_space), str(case.mtu))
    assert Pace().speed(case) == ASSUMED_BYTES_PER_S
    known = {(): 1e6, words[:2]: 2e6, words: 3e6, ("other",): 4e6}
    assert Pace(known).speed(case) == 3e6
    del known[words]
    assert Pace(known).speed(case) == 2e6
    assert Pace({(): 1e6, ("other",): 4e6}).speed(case) == 1e6


def test_the_writing_of_what_is_read_is_no_time_between_trials(tmp_path: Path) -> None:
    run = unpack("demo", tmp_path)
    usual = newest(tmp_path)
    trials = list(map(json.loads, run.trials_path.read_text().splitlines()))
    for trial in trials:
        trial["options"] |= {"read_from": "own"} if trial["direction"] == "read" else {}
    run.trials_path.write_text("".join(json.dumps(trial) + "\n" for trial in trials))
    written = newest(tmp_path)
    assert (written.speeds, 0 < written.factor < usual.factor) == (usual.speeds, True)
