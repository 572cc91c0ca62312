"""`lab dataset` has the history of the run folders, verifies contributions, and survives a kill while it adds a run."""

import json
import shutil
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from support.commands import lab, refusal
from support.contributions import change_lines, contribute_example
from support.datasets import Shape, count_rows, write_runs
from support.paths import ROOT
from support.runs_to_compare import write_history

from lab.base.errors import BadInput
from lab.dataset import sweep_trials
from lab.dataset.add import add
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.runs import speed_histories_of_runs
from lab.results.run_folder import RunFolder
from lab.results.saved_runs import read_saved_runs
from lab.stats.speed_histories import speed_histories

pytest.importorskip("duckdb")


def test_a_history_is_that_of_the_run_folders_and_is_shown(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sweep_trials, "PART_ROWS", 40)
    folders = write_history(tmp_path / "results", [*[1.0] * 9, *[0.8] * 9])
    in_any_order = np.random.default_rng(1).permutation(len(folders))
    assert lab(capsys, "dataset", "add", *(str(folders[place].path) for place in in_any_order))[0] == 0
    runs, ours = speed_histories_of_runs(engine, Dataset(tmp_path / "dataset"), "nas")
    saved = read_saved_runs(tmp_path / "results", "nas").runs
    assert [begun for _, begun in runs] == [run.begun for run in saved]
    assert len(ours) == 2
    assert ours[0].steps
    for history, of_memory in zip(ours, speed_histories(saved), strict=True):
        for name in ("at", "begins", "is_drift", "reference"):
            assert getattr(history, name) == getattr(of_memory, name), name
        points, expected = ([astuple(point)[:5] for point in either.points] for either in (history, of_memory))
        assert points == expected
        for name in ("p", "trend", "over_all", "newest", "between_pct", "within_pct"):
            values = getattr(history, name), getattr(of_memory, name)
            assert values[0] == pytest.approx(values[1], rel=1e-9, nan_ok=True), name
    code, out, _ = lab(capsys, "dataset", "history", "nas")
    assert (code, "write fell by" in out, "Changed then and only then" in out) == (0, True, False)
    with pytest.raises(BadInput, match="holds no run that was saved as other; the names there are nas"):
        speed_histories_of_runs(engine, Dataset(tmp_path / "dataset"), "other")


def test_a_contribution_is_verified_before_it_is_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = contribute_example(tmp_path / "good")
    bad = Path(shutil.copytree(good, tmp_path / "bad"))
    change_lines(bad, lambda lines: lines[:-4])
    error = refusal(capsys, "dataset", "add", "--dataset", tmp_path / "dataset", bad)
    assert "a contribution that does not add up: trials.jsonl: " in error
    assert "lab contribute --verify" in error
    assert not list(tmp_path.rglob("*.parquet"))
    assert lab(capsys, "dataset", "add", "--dataset", tmp_path / "dataset", good)[0] == 0
    assert Dataset(tmp_path / "dataset").sweeps == ["example"]


KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from lab.dataset.add import add
from lab.dataset.folder import Dataset
from lab.results.run_folder import RunFolder
import pyarrow.parquet
dataset, run, copies = map(Path, sys.argv[1:])
real = os.fsync
for allowed in range(40):
    shutil.copytree(dataset, copies / f"{allowed:02}")
    if not (child := os.fork()):
        calls = 0
        def fsync(descriptor):
            global calls
            calls += 1
            if calls > allowed:
                os.kill(os.getpid(), signal.SIGKILL)
            real(descriptor)
        os.fsync = fsync
        copy = Dataset(copies / f"{allowed:02}")
        with copy.claimed():
            add(copy, RunFolder(run))
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def test_killed_at_any_fsync_a_dataset_has_all_or_nothing_new(engine: Engine, dataset: Dataset, tmp_path: Path) -> None:
    [more] = write_runs(tmp_path / "more", [Shape(seed=3, blocks=1, tools=("rsync",))])
    (more.path / "run.json").write_text(json.dumps({**more.run, "id": "run-2"}))
    before, every = count_rows(engine, dataset), ["run-0", "run-1", "run-2"]
    (tmp_path / "copies").mkdir()
    subprocess.run([sys.executable, "-c", KILLED, dataset.path, more.path, tmp_path / "copies"], cwd=ROOT, check=True)
    copies = sorted((tmp_path / "copies").iterdir())
    assert len(copies) > 6
    assert list(Dataset(copies[-1]).register.runs) == every
    whole = count_rows(engine, Dataset(copies[-1]))
    assert whole > before
    for copy in copies[:-1]:
        again = Dataset(copy)
        is_there = list(again.register.runs) == every
        assert count_rows(engine, again) == (whole if is_there else before)
        with again.claimed():
            assert add(again, RunFolder(more.path)) != is_there
        assert list(Dataset(copy).register.runs) == every
        assert count_rows(engine, again) == whole
