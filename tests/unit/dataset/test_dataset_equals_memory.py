"""A dataset says what the frame of all its runs says: to the last bit where nothing is averaged."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.datasets import Shape, assert_same_shares, assert_same_trials, pooled_frame, write_runs
from support.examples import at_most
from support.saved_runs import write_history

from lab import stats
from lab.base import shipped
from lab.base.errors import BadInput
from lab.dataset import medians, pooled, sweep_trials
from lab.dataset.add import add
from lab.dataset.compact import compact
from lab.dataset.courses import courses_of_runs
from lab.dataset.engine import Engine, started
from lab.dataset.folder import Dataset
from lab.dataset.limits import LIMITS
from lab.dataset.pooled import Pooled
from lab.dataset.runs import compare_runs
from lab.results import load, open_run
from lab.results.saved_runs import read_saved_runs
from lab.stats import pieces
from lab.stats.bottleneck import verdicts
from lab.stats.effect_ratios import EFFECT, INTERACTION
from lab.stats.history import courses
from lab.stats.several_runs import TABLES, compare_all
from lab.stats.some_trials import some_of_each_case

pytest.importorskip("duckdb")
EXACT = ("factor", "baseline", "level", "method", "n_blocks", "n_pairs", "with_factor", "with_baseline", "with_level")
SHAPES = st.builds(
    Shape,
    seed=st.integers(0, 10**6),
    blocks=st.integers(1, 12),
    protocols=st.sampled_from([("afp", "smb"), ("smb",), ("afp", "nfs", "smb")]),
    tools=st.sampled_from([("cp",), ("cp", "rsync")]),
    mtus=st.sampled_from([(1500, 9000), (1500,)]),
    spaces=st.sampled_from([("default",), ("default", 65536, 4194304)]),
    option=st.sampled_from(["", "smb.signing"]),
    lost=st.sampled_from([0.0, 0.1, 0.9]),
    missing=st.sampled_from([0.0, 0.2]),
    again=st.sampled_from([0.0, 0.2]),
    half=st.booleans(),
)


def assert_same(sweep: Pooled, frame: pd.DataFrame) -> None:
    """All tables of a dataset are those of the frame."""
    pd.testing.assert_frame_equal(sweep.summary, stats.summary(frame), check_exact=True, check_dtype=False)
    pd.testing.assert_frame_equal(sweep.ceilings, stats.ceilings(frame), check_exact=True, check_dtype=False)
    grid = stats.grid(frame)
    assert_close(sweep.effects, stats.effects(grid), EFFECT)
    assert_close(sweep.interactions, stats.interactions(grid), INTERACTION)
    assert_same_shares(sweep.shares, stats.shares(grid))
    assert_same_trials(sweep.some, some_of_each_case(frame))
    status = stats.transfers(frame)["status"]
    assert sweep.counts == {name: int((status == name).sum()) for name in ("ok", "void", "failed")}


def assert_close(ours: pd.DataFrame, theirs: pd.DataFrame, columns: tuple[str, ...]) -> None:
    """Words and counts are the same, and means are so to 1e-12."""
    assert list(ours.columns) == list(theirs.columns)
    same = [name for name in ours if name in EXACT or name in stats.POOLED]
    pd.testing.assert_frame_equal(ours[same], theirs[same], check_exact=True, check_dtype=False)
    if "ratio" in ours and len(ours):
        np.testing.assert_allclose(np.log(ours["ratio"]), np.log(theirs["ratio"]), rtol=0, atol=1e-12)
    for name in set(columns) - set(EXACT) - {"established"}:
        one, other = (table[name].to_numpy(float) for table in (ours, theirs))
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9, err_msg=name)


def make(engine: Engine, folder: Path, shapes: list[Shape]) -> tuple[Pooled, pd.DataFrame]:
    """The dataset of some runs, and their frame."""
    runs = write_runs(folder / "results", shapes, ceiling_shots=max(shape.shots or 1 for shape in shapes))
    dataset = Dataset.at(folder / "dataset")
    with dataset.claimed():
        for run in runs:
            assert add(dataset, run)
    return Pooled(engine, dataset, "synthetic"), pooled_frame([load(run.path) for run in runs])


@pytest.fixture(scope="module")
def engine() -> Engine:  # type: ignore[misc]
    with started() as made:
        yield made


@given(st.lists(SHAPES, min_size=1, max_size=3))
@at_most(25)
@example([Shape(seed=1, blocks=1)])
@example([Shape(seed=2, lost=0.2), Shape(seed=3, option="smb.signing", lost=0.2), Shape(seed=4, blocks=9)])
@example([Shape(seed=5, blocks=8, tools=("cp", "rsync"), spaces=("default", 65536), half=True)])
@example([Shape(seed=7, blocks=7, shots=2), Shape(seed=8, blocks=3, shots=2, lost=0.3, mtus=(1500,))])
@example([Shape(seed=9, blocks=7, shots=1, lost=0.2), Shape(seed=10, blocks=2)])
@example([Shape(seed=6, blocks=12, again=0.5, missing=0.3, protocols=("afp", "nfs", "smb"))])
def test_every_table_is_that_of_the_frame(engine: Engine, shapes: list[Shape]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_same(*make(engine, Path(folder), shapes))


def test_it_is_so_in_small_parts_with_brackets_and_in_a_file(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_trials, "PART_ROWS", 1)
    monkeypatch.setattr(pooled, "_SMALL", 0)
    monkeypatch.setattr(medians, "SAMPLE", 500)
    monkeypatch.setattr(medians, "ALL_OF", 10)
    monkeypatch.setattr(pieces, "MOST_VALUES", 64)
    shapes = [Shape(seed=seed, blocks=40, lost=0.05, spaces=("default", 65536), again=0.1) for seed in range(4)]
    sweep, frame = make(engine, tmp_path, shapes)
    monkeypatch.setattr(pieces, "MOST_VALUES", 1 << 20)
    expected = stats.effects(stats.grid(frame))
    monkeypatch.setattr(pieces, "MOST_VALUES", 64)
    assert_close(sweep.effects, expected, EFFECT)
    assert_same(sweep, frame)


def test_a_sample_that_misleads_costs_another_look_and_no_digit(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(medians, "SAMPLE", 300)
    monkeypatch.setattr(medians, "ALL_OF", 0)
    monkeypatch.setattr(medians, "DEVIATIONS", 1e-6)
    looks: list[float] = []
    look = medians._take_from_brackets

    def count(*words: Any) -> None:
        looks.append(words[-1])
        look(*words)

    monkeypatch.setattr(medians, "_take_from_brackets", count)
    sweep, frame = make(engine, tmp_path, [Shape(seed=8, blocks=200, lost=0.05)])
    pd.testing.assert_frame_equal(sweep.summary, stats.summary(frame), check_exact=True, check_dtype=False)
    assert len(looks) > 1


@pytest.mark.parametrize("name", sorted(shipped.examples()))
def test_the_runs_that_come_with_the_lab_say_the_same(engine: Engine, tmp_path: Path, name: str) -> None:
    folder = open_run(name)
    dataset = Dataset.at(tmp_path / "dataset")
    with dataset.claimed():
        assert add(dataset, folder)
    sweep, frame = Pooled(engine, dataset, dataset.sweeps[0]), load(folder.path)
    assert_same(sweep, frame)
    own = verdicts(frame).assign(runs=1, certain=lambda rows: (rows["grade"] == "certain").astype(int))
    at = [*stats.POOLED, "tcp_space"]  # what the examples vary
    columns = [*at, *LIMITS]
    assert_frame_equal(sweep.limits[columns].sort_values(at), own[columns].sort_values(at))


def assert_frame_equal(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        ours.reset_index(drop=True), theirs.reset_index(drop=True), check_exact=True, check_dtype=False
    )


def test_joined_files_say_the_same(engine: Engine, tmp_path: Path) -> None:
    shapes = [Shape(seed=seed, blocks=2, lost=0.1, option="smb.signing" if seed % 2 else "") for seed in range(6)]
    sweep, frame = make(engine, tmp_path, shapes)
    limits = sweep.limits
    dataset = Dataset(tmp_path / "dataset")
    with dataset.claimed():
        assert compact(engine, dataset) == (18, 3)
    assert len(list((tmp_path / "dataset").rglob("*.parquet"))) == 3
    joined = Pooled(engine, Dataset(tmp_path / "dataset"), sweep.sweep)
    assert_same(joined, frame)
    assert_frame_equal(joined.limits, limits)
    assert joined.unjudged == 0


def test_a_history_is_that_of_the_run_folders(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_trials, "PART_ROWS", 40)
    rng = np.random.default_rng(1)
    folders = write_history(tmp_path / "results", [*[1.0] * 9, *[0.8] * 9])
    dataset = Dataset.at(tmp_path / "dataset")
    with dataset.claimed():
        for place in rng.permutation(len(folders)):
            add(dataset, folders[place])
    runs, ours = courses_of_runs(engine, dataset, "nas")
    saved = read_saved_runs(tmp_path / "results", "nas").runs
    theirs = courses(saved)
    assert [begun for _, begun in runs] == [run.begun for run in saved]
    assert len(ours) == 2
    assert ours[0].steps
    for one, other in zip(ours, theirs, strict=True):
        assert one.at == other.at
        assert (one.begins, one.is_drift, one.reference) == (other.begins, other.is_drift, other.reference)
        points = [
            [(point.run, point.n, point.median, point.low, point.high) for point in of.points] for of in (one, other)
        ]
        assert points[0] == points[1]
        for name in ("p", "trend", "over_all", "newest", "between_pct", "within_pct"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9, nan_ok=True), name
    with pytest.raises(BadInput, match="holds no run that was saved as other; the names there are nas"):
        courses_of_runs(engine, dataset, "other")


def test_runs_over_a_first_one_are_what_their_folders_say(engine: Engine, tmp_path: Path) -> None:
    shapes = [Shape(seed=1, blocks=4, lost=0.1), Shape(seed=2, blocks=3, option="smb.signing"), Shape(seed=3, blocks=5)]
    runs = write_runs(tmp_path / "results", shapes)
    make(engine, tmp_path / "other", [shapes[0]])
    dataset = Dataset.at(tmp_path / "dataset")
    with dataset.claimed():
        for run in runs:
            add(dataset, run)
        expected = compare_all(load(runs[0].path), [load(run.path) for run in runs[1:]])
        for _ in range(2):
            named, found = compare_runs(engine, dataset, ["run-0", "run-1", "run-2"])
            assert [run.run_id for run in named] == ["run-0", "run-1", "run-2"]
            for ours, theirs in zip(found, expected, strict=True):
                for name in TABLES:
                    pd.testing.assert_frame_equal(
                        getattr(ours, name), getattr(theirs, name), rtol=1e-12, check_dtype=False
                    )
                assert (ours.n_cases, ours.alone) == (theirs.n_cases, theirs.alone)
            compact(engine, dataset)
    for names, said in (
        (["run-0", "run"], "several runs begin so"),
        (["run-0", "x"], "begins so"),
        (["run-0"] * 2, "twice"),
    ):
        with pytest.raises(BadInput, match=said):
            compare_runs(engine, dataset, names)
