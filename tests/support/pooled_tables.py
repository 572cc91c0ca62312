"""Compares the tables of a dataset with those of the frame of all its runs."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from lab import stats
from lab.dataset.engine import Engine
from lab.dataset.pooled import Pooled
from lab.report.analysis import Analysis
from lab.report.registry import OF_DATASET, OF_RUN
from lab.report.terminal import values_of
from lab.results import load
from lab.results.run_folder import RunFolder
from lab.stats.anova import Shares
from lab.stats.effect_ratios import EFFECT, INTERACTION
from lab.stats.encoding import some_of_each_case
from lab.stats.factors import factors_of
from support.datasets import Shape, dataset_of, pooled_frame, tool_trials, write_runs
from support.synthetic_runs import write_run

EXACT = ("factor", "baseline", "level", "method", "n_blocks", "n_pairs", "with_factor", "with_baseline", "with_level")
OWN = ("files", "shares", "clients", "requests", "frames", "capacity", "store", "store-effects", "waterfall")
SAME = ("file_rates", "store_numbers", "store_effects", "waterfall")
assert_equal = partial(pd.testing.assert_frame_equal, check_exact=True, check_dtype=False)


def pooled_of(engine: Engine, folder: Path, shapes: list[Shape]) -> tuple[Pooled, pd.DataFrame]:
    runs = write_runs(folder / "results", shapes, ceiling_shots=max(shape.shots or 1 for shape in shapes))
    dataset = dataset_of(folder / "dataset", runs)
    return Pooled(engine, dataset, "synthetic"), pooled_frame([load(run.path) for run in runs])


def assert_same(sweep: Pooled, frame: pd.DataFrame) -> None:
    assert_equal(sweep.summary, stats.summary(frame))
    assert_equal(sweep.ceilings, stats.ceilings(frame))
    grid = stats.grid(frame)
    assert_close(sweep.effects, stats.effects(grid), EFFECT)
    assert_close(sweep.interactions, stats.interactions(grid), INTERACTION)
    assert_same_shares(sweep.shares, stats.shares(grid))
    assert_same_trials(sweep.some, some_of_each_case(frame))
    status = stats.transfers(frame)["status"]
    assert sweep.counts == {name: int((status == name).sum()) for name in ("ok", "void", "failed")}


def assert_close(ours: pd.DataFrame, theirs: pd.DataFrame, columns: tuple[str, ...]) -> None:
    """Words and counts are equal, means to 1e-12."""
    assert list(ours) == list(theirs)
    same = [name for name in ours if name in EXACT or name in stats.POOLED]
    assert_equal(ours[same], theirs[same])
    if "ratio" in ours and len(ours):
        np.testing.assert_allclose(np.log(ours["ratio"]), np.log(theirs["ratio"]), rtol=0, atol=1e-12)
    numbers = [name for name in columns if name not in EXACT and name != "established"]
    pd.testing.assert_frame_equal(ours[numbers], theirs[numbers], check_dtype=False, rtol=1e-7, atol=1e-9)


def assert_same_trials(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """The chosen trials of each case are those of the frame, in its order; blocks may begin with another number."""
    plain = ["status", "size_bytes", "elapsed_s", "files", "bytes_per_s", *factors_of(theirs.columns)]
    one, other = (
        table[plain].assign(block=table["block"] - table["block"].head(1).sum()).reset_index(drop=True)
        for table in (ours, theirs)
    )
    assert_equal(one, other)


def assert_same_shares(ours: Shares, theirs: Shares) -> None:
    """Words and counts are equal, sums to 1e-9."""
    assert (ours.used, ours.blocks) == (theirs.used, theirs.blocks)
    assert ours.table[["term", "df"]].to_numpy().tolist() == theirs.table[["term", "df"]].to_numpy().tolist()
    sums, expected = (shares.table[["sum_of_squares", "share"]].to_numpy(float) for shares in (ours, theirs))
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-12)


def assert_same_own_numbers(sweep: Pooled, run: Analysis) -> None:
    """All that is computed from chosen trials, complete blocks and stores equals the frame's."""
    assert_same_trials(sweep.some, run.some)
    for name in SAME:
        ours, theirs = getattr(sweep, name), getattr(run, name)
        assert len(ours) == len(theirs), name
        if len(ours):
            assert_equal(ours, theirs, obj=name)
    assert_same_shares(sweep.shares, run.shares)
    assert values_of(OF_DATASET, sweep, kept_empty=False) == values_of(OF_RUN, run, kept_empty=False)
    for name in set(OWN) - {"shares"}:  # rounding orders its rows of zeros
        assert OF_DATASET[name].words(sweep) == OF_RUN[name].words(run), name


def without_own(run: Pooled) -> set[str]:
    """The tables of OWN for which a run has nothing."""
    made = {name: OF_DATASET[name].words(run) for name in OWN}
    return {name for name, words in made.items() if not words or not (words.rows or OF_DATASET[name].is_shown_empty)}


def frame_of(*runs: RunFolder) -> Analysis:
    return Analysis(pooled_frame([load(run.path) for run in runs]))


def tool_runs(folder: Path) -> list[RunFolder]:
    """A run without stores that have options, one without observations, and one that lost trials."""
    runs = [tool_trials(1, 2, pool=False), tool_trials(2, 5), tool_trials(3, 3, counted=False)]
    runs.append(tool_trials(4, 7, lost=0.1))
    return [write_run(folder, trials, id=f"run-{number}") for number, trials in enumerate(runs)]
