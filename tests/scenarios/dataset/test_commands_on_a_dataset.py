"""`lab dataset`, as a person types it: what it shows of tools and of a history is what the run folders say."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.commands import lab
from support.saved_runs import write_history
from support.synthetic_runs import write_run
from support.tool_trials import tool_trials

from lab.base.errors import BadInput
from lab.dataset import sweep_trials
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.runs import courses_of_runs
from lab.report.registry import OF_DATASET, OF_RUN
from lab.results.saved_runs import read_saved_runs
from lab.stats.courses import courses

pytest.importorskip("duckdb")


def test_the_commands_have_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert OF_DATASET.keys() == OF_RUN.keys() - {"counted", "remarks", "lost"}
    monkeypatch.chdir(tmp_path)
    run = write_run(tmp_path / "results", tool_trials(7, 4), finished_at="2030-01-02T03:04:05+00:00")
    assert lab(capsys, "dataset", "add", str(run.path))[0] == 0
    answers = [json.loads(lab(capsys, *words, "--json")[1]) for words in (("dataset", "show"), ("show", str(run.path)))]
    [ours], theirs = answers
    keys = ["files", "clients", "requests", "frames", "capacity", "store", "store_effects", "waterfall"]
    assert {key: ours[key] for key in keys} == {key: theirs[key] for key in keys}
    assert ours["shares"]["blocks_used"] == theirs["shares"]["blocks_used"] == 4
    for name in ("files", "store", "waterfall"):
        printed = [lab(capsys, *words, "--table", name) for words in (("dataset", "show"), ("show", str(run.path)))]
        assert [code for code, _, _ in printed] == [0, 0]
        ours, theirs = ([line.strip() for line in out.splitlines() if "·" not in line] for _, out, _ in printed)
        assert ours[:6] == theirs[:6]
    plain = write_run(tmp_path / "plain", name="plain")
    assert lab(capsys, "dataset", "add", str(plain.path))[0] == 0
    assert lab(capsys, "dataset", "show", "plain", "--table", "requests") == (0, "nothing: the runs have none\n", "")


def test_a_history_is_that_of_the_run_folders_and_is_shown(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sweep_trials, "PART_ROWS", 40)
    folders = write_history(tmp_path / "results", [*[1.0] * 9, *[0.8] * 9])
    in_any_order = np.random.default_rng(1).permutation(len(folders))
    assert lab(capsys, "dataset", "add", *(str(folders[place].path) for place in in_any_order))[0] == 0
    runs, ours = courses_of_runs(engine, Dataset(tmp_path / "dataset"), "nas")
    saved = read_saved_runs(tmp_path / "results", "nas").runs
    assert [begun for _, begun in runs] == [run.begun for run in saved]
    assert len(ours) == 2
    assert ours[0].steps
    for one, other in zip(ours, courses(saved), strict=True):
        assert one.at == other.at
        assert (one.begins, one.is_drift, one.reference) == (other.begins, other.is_drift, other.reference)
        points = [
            [(point.run, point.n, point.median, point.low, point.high) for point in of.points] for of in (one, other)
        ]
        assert points[0] == points[1]
        for name in ("p", "trend", "over_all", "newest", "between_pct", "within_pct"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9, nan_ok=True), name
    code, out, _ = lab(capsys, "dataset", "history", "nas")
    assert code == 0
    assert "write fell by" in out
    assert "Changed then and only then" not in out
    with pytest.raises(BadInput, match="holds no run that was saved as other; the names there are nas"):
        courses_of_runs(engine, Dataset(tmp_path / "dataset"), "other")
