"""A dataset gives the tables of the frame of all its runs: to the last bit if nothing is averaged."""

from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest
from support.datasets import Shape, dataset_of, parquet_files, write_runs
from support.pooled_tables import assert_close, assert_equal, assert_same, assert_same_own_numbers, frame_of, pooled_of

from lab import stats
from lab.base import shipped
from lab.base.errors import BadInput
from lab.dataset import medians, pooled, sweep_trials
from lab.dataset.compact import compact
from lab.dataset.engine import Engine
from lab.dataset.folder import Dataset
from lab.dataset.frames import LIMITS
from lab.dataset.pooled import Pooled
from lab.dataset.runs import compare_runs
from lab.results import load, open_run
from lab.stats import two_way
from lab.stats.bottleneck import verdicts
from lab.stats.effect_ratios import EFFECT
from lab.stats.two_runs import TABLES, compare_all

pytest.importorskip("duckdb")


@pytest.mark.parametrize("name", sorted(shipped.examples()))
def test_a_run_that_comes_with_the_lab_says_the_same(engine: Engine, tmp_path: Path, name: str) -> None:
    folder = open_run(name)
    dataset = dataset_of(tmp_path / "dataset", [folder])
    sweep, frame = Pooled(engine, dataset, dataset.sweeps[0]), load(folder.path)
    assert_same(sweep, frame)
    assert_same_own_numbers(sweep, frame_of(folder))
    own = verdicts(frame).assign(runs=1, certain=lambda rows: (rows["grade"] == "certain").astype(int))
    at = [*stats.POOLED, "tcp_space"]  # what the examples vary
    ours, theirs = (table[[*at, *LIMITS]].sort_values(at, ignore_index=True) for table in (sweep.limits, own))
    assert_equal(ours, theirs)


def test_joined_files_say_the_same(engine: Engine, tmp_path: Path) -> None:
    shapes = [Shape(seed=1, blocks=2, lost=0.1, option="smb.signing"), Shape(seed=2, again=0.5), Shape(seed=3)]
    sweep, frame = pooled_of(engine, tmp_path, shapes)
    limits, dataset = sweep.limits, Dataset(tmp_path / "dataset")
    with dataset.claimed():
        assert compact(engine, dataset) == (9, 3)
    assert len(parquet_files(dataset)) == 3
    joined = Pooled(engine, Dataset(tmp_path / "dataset"), sweep.sweep)
    assert_same(joined, frame)
    assert_equal(joined.limits, limits)
    assert joined.unjudged == 0


def test_small_parts_say_the_same(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (sweep_trials, "PART_ROWS", 1), (pooled, "_SMALL", 0), (medians, "SAMPLE", 80), (medians, "ALL_OF", 10),
        (two_way, "MOST_VALUES", 64),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    shapes = [Shape(seed=seed, blocks=12, lost=0.05, spaces=("default", 65536), again=0.1) for seed in range(2)]
    sweep, frame = pooled_of(engine, tmp_path, shapes)
    with monkeypatch.context() as whole:
        whole.setattr(two_way, "MOST_VALUES", 1 << 20)
        expected = stats.effects(stats.grid(frame))
    assert_close(sweep.effects, expected, EFFECT)
    assert_same(sweep, frame)


def test_a_misleading_sample_costs_no_digit(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"SAMPLE": 100, "ALL_OF": 0, "DEVIATIONS": 1e-6}.items():
        monkeypatch.setattr(medians, name, value)
    look = Mock(wraps=medians._take_from_brackets)
    monkeypatch.setattr(medians, "_take_from_brackets", look)
    sweep, frame = pooled_of(engine, tmp_path, [Shape(seed=8, blocks=60, lost=0.05)])
    assert_equal(sweep.summary, stats.summary(frame))
    assert look.call_count > 1


def test_runs_over_a_first_one_are_what_their_folders_say(engine: Engine, tmp_path: Path) -> None:
    shapes = [Shape(seed=1, blocks=4, lost=0.1), Shape(seed=2, blocks=3, option="smb.signing"), Shape(seed=3, blocks=5)]
    runs = write_runs(tmp_path / "results", shapes)
    dataset = dataset_of(tmp_path / "dataset", runs)
    expected = compare_all(load(runs[0].path), [load(run.path) for run in runs[1:]])
    for _ in range(2):
        named, comparisons = compare_runs(engine, dataset, ["run-0", "run-1", "run-2"])
        assert [run.run_id for run in named] == ["run-0", "run-1", "run-2"]
        for ours, theirs in zip(comparisons, expected, strict=True):
            for name in TABLES:
                pd.testing.assert_frame_equal(getattr(ours, name), getattr(theirs, name), rtol=1e-12, check_dtype=False)
            assert (ours.n_cases, ours.alone) == (theirs.n_cases, theirs.alone)
        with dataset.claimed():
            compact(engine, dataset)
    wrong = {("run-0", "run"): "several runs begin so", ("run-0", "x"): "begins so", ("run-0", "run-0"): "twice"}
    for names, message in wrong.items():
        with pytest.raises(BadInput, match=message):
            compare_runs(engine, dataset, [*names])
