"""What tools measured by themselves says of a dataset what it says of the frame of all its runs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from support.commands import lab
from support.datasets import (
    assert_same_shares,
    assert_same_trials,
    note_size,
    parquet_files,
    pooled_frame,
    rewrite,
)
from support.paths import RUN_CAPTURES
from support.synthetic_runs import write_run
from support.tool_trials import tool_trials

from lab.base import shipped
from lab.base.errors import BadInput
from lab.cli import dataset as dataset_command
from lab.dataset import sweep_trials, trial_rows
from lab.dataset.add import add
from lab.dataset.compact import compact
from lab.dataset.engine import Engine, started
from lab.dataset.folder import Dataset
from lab.dataset.pooled import Pooled
from lab.report.analysis import Analysis
from lab.report.terminal import OF_MANY, own_numbers_json
from lab.results import load, open_run
from lab.results.run_folder import RunFolder
from lab.stats import some_trials

pytest.importorskip("duckdb")
OWN = ("files", "shares", "clients", "requests", "frames", "capacity", "store", "store-effects", "waterfall")
SAME = ("file_rates", "store_numbers", "store_effects", "waterfall")


@pytest.fixture(scope="module")
def engine() -> Engine:  # type: ignore[misc]
    with started() as made:
        yield made


def dataset_of(folder: Path, runs: Sequence[RunFolder]) -> Dataset:
    dataset = Dataset.at(folder)
    with dataset.claimed():
        for run in runs:
            assert add(dataset, run)
    return dataset


def assert_same(sweep: Pooled, run: Analysis) -> None:
    """All that is computed of some trials of each case, of complete blocks and of stores is that of the frame."""
    assert_same_trials(sweep.some, run.some)
    for name in SAME:
        ours, theirs = getattr(sweep, name), getattr(run, name)
        assert len(ours) == len(theirs), name
        if len(ours):
            pd.testing.assert_frame_equal(ours, theirs, check_exact=True, check_dtype=False, obj=name)
    assert_same_shares(sweep.shares, run.shares)
    assert own_numbers_json(sweep) == own_numbers_json(run)
    for name in set(OWN) - {"shares"}:  # of which rows that say nothing stand as rounding has them
        assert OF_MANY[name](sweep) == OF_MANY[name](run), name


def frame_of(*runs: RunFolder) -> Analysis:
    """The frame of all these runs, one after the other."""
    return Analysis(pooled_frame([load(run.path) for run in runs]))


def tool_runs(folder: Path) -> list[RunFolder]:
    """One without a store that has options, one of which nothing was counted, and one that lost trials."""
    return [
        write_run(folder, trials, id=f"run-{number}")
        for number, trials in enumerate((
            tool_trials(1, 2, pool=False), tool_trials(2, 5), tool_trials(3, 3, counted=False),
            tool_trials(4, 7, lost=0.1),
        ))
    ]  # fmt: skip


@pytest.mark.parametrize(("part_rows", "most_trials"), [(1, 4), (1 << 20, 30)])
def test_every_tool_says_the_same(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part_rows: int, most_trials: int
) -> None:
    monkeypatch.setattr(sweep_trials, "PART_ROWS", part_rows)
    monkeypatch.setattr(some_trials, "MOST_TRIALS", most_trials)
    runs = tool_runs(tmp_path / "results")
    dataset, whole = dataset_of(tmp_path / "dataset", runs), frame_of(*runs)
    sweep = Pooled(engine, dataset, "synthetic")
    assert_same(sweep, whole)
    assert [name for name in OWN if OF_MANY[name](sweep) is None] == []
    assert sweep.waterfall.notna().any().all()
    assert len(sweep.store_effects) > 0
    assert sweep.shares.used > 0
    assert len(sweep.some) < len(whole.trials.frame)
    with dataset.claimed():
        compact(engine, dataset)
    assert_same(Pooled(engine, Dataset(dataset.path), "synthetic"), whole)


def test_files_of_what_was_counted_are_read_some_at_a_time(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_rows, "MOST_FILES", 2)
    runs = tool_runs(tmp_path / "results")
    sweep = Pooled(engine, dataset_of(tmp_path / "dataset", runs), "synthetic")
    assert_same(sweep, frame_of(*runs))


def test_of_runs_of_which_nothing_was_counted_there_are_no_such_tables(engine: Engine, tmp_path: Path) -> None:
    run = write_run(tmp_path / "results", tool_trials(5, 3, counted=False))
    dataset = dataset_of(tmp_path / "dataset", [run])
    sweep = Pooled(engine, dataset, "synthetic")
    assert_same(sweep, frame_of(run))
    assert {name for name in OWN if OF_MANY[name](sweep) is None} == {"clients", "requests", "frames", "capacity"}
    none = write_run(tmp_path / "lost", tool_trials(6, 2, lost=1.0))
    assert_same(Pooled(engine, dataset_of(tmp_path / "none", [none]), "synthetic"), frame_of(none))


@pytest.mark.parametrize("name", sorted(shipped.examples()))
def test_the_runs_that_come_with_the_lab_say_the_same(engine: Engine, tmp_path: Path, name: str) -> None:
    folder = open_run(name)
    dataset = dataset_of(tmp_path / "dataset", [folder])
    assert_same(Pooled(engine, dataset, dataset.sweeps[0]), frame_of(folder))


@pytest.mark.parametrize("names", [("demo", "demo-again", "old-schema"), ("faulty",), ("guests",), ("macs",)])
def test_kept_runs_say_the_same(engine: Engine, tmp_path: Path, names: Sequence[str]) -> None:
    runs = []
    for name in names:
        (tmp_path / name).mkdir()
        for packed in (RUN_CAPTURES / name / "run").iterdir():
            (tmp_path / name / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
        about = tmp_path / name / "run.json"
        about.write_text(json.dumps({**json.loads(about.read_text()), "name": "kept", "id": name}))
        runs.append(RunFolder(tmp_path / name))
    sweep = Pooled(engine, dataset_of(tmp_path / "dataset", runs), "kept")
    assert_same(sweep, frame_of(*runs))


def test_the_commands_have_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sorted(dataset_command.TABLES) == sorted([*OF_MANY, "limits"])
    monkeypatch.chdir(tmp_path)
    run = write_run(tmp_path / "results", tool_trials(7, 4), finished_at="2030-01-02T03:04:05+00:00")
    assert lab(capsys, "dataset", "add", str(run.path))[0] == 0
    told = [json.loads(lab(capsys, *words, "--json")[1]) for words in (("dataset", "show"), ("show", str(run.path)))]
    [ours], theirs = told
    keys = ["files", "clients", "requests", "frames", "capacity", "store", "store_effects", "waterfall"]
    assert {key: ours[key] for key in keys} == {key: theirs[key] for key in keys}
    assert ours["shares"]["blocks_used"] == theirs["shares"]["blocks_used"] == 4
    for name in ("files", "store", "waterfall"):
        shown = [lab(capsys, *words, "--table", name) for words in (("dataset", "show"), ("show", str(run.path)))]
        assert [code for code, _, _ in shown] == [0, 0]
        ours, theirs = ([line.strip() for line in out.splitlines() if "·" not in line] for _, out, _ in shown)
        assert ours[:6] == theirs[:6]
    plain = write_run(tmp_path / "plain", name="plain")
    assert lab(capsys, "dataset", "add", str(plain.path))[0] == 0
    assert lab(capsys, "dataset", "show", "plain", "--table", "requests") == (0, "nothing: the runs have none\n", "")


@pytest.mark.parametrize(
    ("table", "column", "values", "said"),
    [
        ("observed", "observed.requests.read.iops", pa.array(["x"]), "is string: should be double"),
        ("observed", "observed.frames.late", pa.array([[1]]), "should be int64"),
        ("observed", "trial_id", pa.array([7]), "is int64: should be string"),
        ("observed", "run_id", None, "column run_id is missing"),
        ("trials", "files", None, "column files is missing: should be int64"),
        ("trials", "position", pa.array([0.5]), "is double: should be int64"),
    ],
)
def test_a_forged_column_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, column: str, values: pa.Array | None, said: str
) -> None:
    dataset = dataset_of(tmp_path / "dataset", [write_run(tmp_path / "results", tool_trials(8, 2))])
    (path,) = (path for path in parquet_files(dataset) if table in path.parts)
    written = parquet.read_table(path)
    place = written.column_names.index(column)
    forged = written.remove_column(place)
    if values is not None:
        forged = written.set_column(place, column, values.take(pa.array([0] * len(written))))
    rewrite(path, forged)
    note_size(dataset, path)
    code, out, err = lab(capsys, "dataset", "show", "--dataset", str(dataset.path), "--table", "requests")
    assert (code, out) == (2, "")
    assert said in err
    assert column in err
    assert path.name in err


def test_rows_of_what_was_counted_that_no_trial_has_change_nothing(engine: Engine, tmp_path: Path) -> None:
    run = write_run(tmp_path / "results", tool_trials(9, 2))
    dataset = dataset_of(tmp_path / "dataset", [run])
    (path,) = (path for path in parquet_files(dataset) if "observed" in path.parts)
    written = parquet.read_table(path)
    foreign = written.set_column(0, "run_id", pa.array(["another"] * len(written)))
    rewrite(path, foreign)
    note_size(dataset, path)
    sweep = Pooled(engine, Dataset(dataset.path), "synthetic")
    assert all(not observed for observed in sweep.some["observed"])
    path.unlink()
    with pytest.raises(BadInput, match="cannot be read"):
        _ = Pooled(engine, Dataset(dataset.path), "synthetic").some
