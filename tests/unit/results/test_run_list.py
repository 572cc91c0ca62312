"""The runs of a results folder in a few figures each."""

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.hostile_runs import HOSTILE, Place, hostile_run
from support.paths import CAPTURED_RUNS, unpack_run
from support.synthetic_runs import make_trials, trial, write_run

from lab import stats
from lab.results import run_folder, run_list
from lab.results.run_list import ListedRun, list_runs


def test_a_run_is_listed_with_its_hosts_and_fastest_medians(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_run(tmp_path, make_trials(3))
    (listed,) = list_runs(tmp_path)
    trials = [trial for trial in folder.trials() if trial.protocol != "link"]
    summary = stats.summary(run_folder.load(folder.path))
    fastest = summary.groupby("direction", observed=True)["median_MB_per_s"].max()
    counts = {status: sum(trial.status == status for trial in trials) for status in ("ok", "void", "failed")}
    assert listed == ListedRun(
        path=str(folder.path), sweep="synthetic", started_at=folder.run["started_at"],
        ended="it is still running, or was killed", label="local lab", trials=counts, fastest=listed.fastest,
        hosts={"client": "synthetic-client", "server": "synthetic-server"},
    )  # fmt: skip
    assert min(listed.trials.values()) > 0
    assert listed.fastest == pytest.approx({name: fastest[name] for name in ("write", "read")})
    monkeypatch.setattr(run_list, "MOST_BYTES", 10_000)  # of a longer file, the beginning is read
    (beginning,) = list_runs(tmp_path)
    assert not beginning.is_whole
    assert 0 < sum(beginning.trials.values()) < len(folder.trials())


@pytest.mark.parametrize("name", CAPTURED_RUNS)
def test_real_runs_are_listed_with_the_figures_of_their_summary(tmp_path: Path, name: str) -> None:
    path = unpack_run(name, tmp_path / f"20300101T000000Z-{name}")
    (listed,) = list_runs(tmp_path)
    frame = run_folder.load(path)
    summary, transfers = stats.summary(frame), frame[~frame["protocol"].isin(["link", "store"])]
    assert listed.problem == ""
    counts = {status: count for status, count in listed.trials.items() if count}
    assert counts == transfers["status"].value_counts().to_dict()
    assert max(listed.fastest.values()) == pytest.approx(summary["median_MB_per_s"].max())
    assert listed.label == ("emulated Mac" if name == "macs" else "local lab")


def test_an_anchor_counts_and_is_in_no_median_and_a_torn_last_line_is_no_trial(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [trial(), trial(trial_id="again", anchor=True, elapsed_s=0.001)])
    with folder.trials_path.open("a") as file:
        file.write('{"case_id": "x", "sta')
    (listed,) = list_runs(tmp_path)
    assert (listed.trials["ok"], listed.problem) == (2, "")
    assert listed.fastest == pytest.approx({"write": statistics.median([512 * 1024**2 / 5e6])})


def test_the_newest_comes_first_and_one_that_cannot_be_read_is_a_line_among_the_others(tmp_path: Path) -> None:
    for name in ("20300101T000000Z-a", "20300102T000000Z-b", "20300103T000000Z-c"):
        write_run(tmp_path, [trial()]).path.rename(tmp_path / name)
    (tmp_path / "20300102T000000Z-b" / "run.json").write_text("{")
    (tmp_path / "20300103T000000Z-c" / "trials.jsonl").write_text('{"status": "ok"}\n')
    third, second, first = list_runs(tmp_path)
    assert [listed.sweep for listed in (first, second, third)] == ["a", "b", "c"]
    assert first.problem == ""
    assert second.problem.startswith("run.json: cannot be read: ")
    assert third.problem.startswith("trials.jsonl: line 1: not a trial: ")


def test_a_run_without_a_trial_says_how_it_ended(tmp_path: Path) -> None:
    write_run(tmp_path, [], ended="failed: server: no iperf3", failed=True)
    write_run(tmp_path, [])
    unfinished, failed = list_runs(tmp_path)
    assert (failed.ended, unfinished.ended) == ("failed: server: no iperf3", "it is still running, or was killed")
    assert (failed.fastest, set(failed.trials.values())) == ({}, {0})
    assert (unfinished.began, failed.began) == (True, False)


def test_a_long_reason_keeps_its_end_which_has_the_cause(tmp_path: Path) -> None:
    write_run(tmp_path, [], ended=f"failed: client: {'/a/long/path' * 30}: No space left on device")
    (listed,) = list_runs(tmp_path)
    assert listed.ended.startswith("failed: client: /a/long")
    assert listed.ended.endswith(": No space left on device")
    assert len(listed.ended) <= run_list.LONGEST_REASON


@pytest.mark.parametrize(("field", "value"), [
    ("size_bytes", 10**400), ("size_bytes", -1), ("elapsed_s", 1e-320), ("elapsed_s", "x"), ("direction", "up"),
    ("status", None), ("case_id", 1), ("observed", []),
])  # fmt: skip
def test_what_no_lab_wrote_is_a_problem_or_counts_nothing(tmp_path: Path, field: str, value: object) -> None:
    folder = write_run(tmp_path, [])
    folder.trials_path.write_text(json.dumps(trial().to_json() | {field: value}) + "\n")
    (listed,) = list_runs(tmp_path)
    assert bool(listed.problem) == (field not in ("observed", "elapsed_s") or value == "x")
    json.dumps(listed.fastest, allow_nan=False)


@pytest.mark.parametrize("spoil", HOSTILE)
def test_hostile_runs_are_lines_in_time(tmp_path: Path, spoil: Callable[[Place], None]) -> None:
    (tmp_path / "users").mkdir()
    victim = tmp_path / "users" / "file"
    victim.write_text("x\n")
    hostile_run(tmp_path / "results", spoil, tmp_path / "bait", victim)
    began = time.monotonic()
    assert list(list_runs(tmp_path / "results"))
    assert (time.monotonic() - began < 10, (tmp_path / "bait").exists()) == (True, False)
