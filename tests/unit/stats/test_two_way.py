"""Row and column effects by least squares; grids in parts and rows in pieces have the numbers of the whole."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.formula.api import ols
from support.examples import at_most
from support.synthetic_frames import GRID, noise, run

from lab import stats
from lab.stats import intervals, moderation
from lab.stats.contrasts import compare_parts
from lab.stats.effect_ratios import effect_contrasts, effect_table, interaction_contrasts, interaction_table
from lab.stats.intervals import Floats
from lab.stats.speed_matrix import Grid
from lab.stats.two_way import RowsInParts, column_means, column_means_by, two_way


@pytest.mark.parametrize("shape", [(12, 4), (4, 12), (1, 3), (3, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_with_holes_it_is_the_least_squares_fit_of_statsmodels(seed: int, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, shape)
    if min(shape) > 1:
        values[rng.random(shape) < 0.25] = np.nan
        values[0], values[:, 0] = rng.normal(0, 1, shape[1]), rng.normal(0, 1, shape[0])  # all hangs together
    row, column = np.nonzero(np.isfinite(values))
    frame = pd.DataFrame({"y": values[row, column], "row": row, "column": column})
    expected = ols("y ~ C(row) + C(column)", frame).fit().fittedvalues.to_numpy()
    rows, columns = two_way(values)
    np.testing.assert_allclose(rows[row] + columns[column], expected, atol=1e-9)
    assert columns.mean() == pytest.approx(0, abs=1e-12)


def test_a_hole_does_not_move_its_column_by_what_its_row_differs() -> None:
    whole = np.random.default_rng(4).normal(0, 1, (5, 7))
    np.testing.assert_allclose(column_means(whole), whole.mean(axis=0))
    values = np.array([[10.0, 10.1, 10.2], [0.0, 0.1, np.nan], [5.0, np.nan, 5.2]])
    np.testing.assert_allclose(column_means(values), np.array([5.0, 5.1, 5.2]))


def test_what_nothing_joins_to_the_rest_has_no_place() -> None:
    values = np.full((5, 5), np.nan)
    values[:3, :3], values[3, 4] = 1.0, 7.0
    rows, columns = two_way(values)
    assert rows[:3] == pytest.approx([1, 1, 1])
    assert columns[:3] == pytest.approx([0, 0, 0])
    assert np.isnan(rows[3:]).all()
    assert np.isnan(columns[3:]).all()
    assert np.isnan(column_means(np.full((2, 3), np.nan))).all()
    assert np.isnan(column_means(np.empty((0, 3)))).all()


def some_of(grid: Grid, begin: int, end: int) -> Grid:
    """Some blocks of a grid."""
    return replace(
        grid, blocks=grid.blocks[begin:end], log_speed=grid.log_speed[:, begin:end], tried=grid.tried[:, begin:end]
    )


@at_most(40)
@given(
    st.integers(0, 10**6), st.integers(1, 15), st.sampled_from([0.0, 0.05, 0.5, 0.95]), st.sampled_from([1.0, 0.8, 0.4])
)
def test_parts_of_a_grid_give_the_tables_of_the_whole(seed: int, blocks: int, lost: float, kept: float) -> None:
    rng = np.random.default_rng(seed)
    of = GRID[rng.random(len(GRID)) < kept].reset_index(drop=True)
    if not len(of):
        return
    logs = noise(rng, of, blocks)
    logs[rng.random(logs.shape) < lost] = np.nan
    grid = stats.grid(run(of, logs))
    ends = [0, *sorted(rng.integers(0, blocks + 1, 2).tolist()), blocks]

    def parts() -> Iterator[Grid]:
        yield from (some_of(grid, *pair) for pair in itertools.pairwise(ends))

    for contrasts, table, whole in (
        (effect_contrasts, effect_table, stats.effects),
        (interaction_contrasts, interaction_table, stats.interactions),
    ):
        rows, log_ratios = compare_parts(some_of(grid, 0, 0), parts, list(contrasts(grid)), stats.POOLED, np.empty)
        pd.testing.assert_frame_equal(
            table(rows, log_ratios=log_ratios), whole(grid), rtol=1e-9, atol=1e-10, check_dtype=False
        )


@pytest.mark.parametrize("seed", range(8))
def test_holes_are_filled_alike_whether_columns_come_together_or_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, (5, 30))
    values[rng.random(values.shape) < 0.1 * seed] = np.nan
    if seed == 7:  # two parts that nothing joins
        values[:3, 20:], values[3:, :20] = np.nan, np.nan
    rows = RowsInParts(len(values))
    for begin in range(0, 30, 7):
        rows.add(values[:, begin : begin + 7])
    effects = rows.solve()
    expected = two_way(values)[0]
    np.testing.assert_allclose(effects - np.nanmean(effects), expected - np.nanmean(expected), atol=1e-12)
    np.testing.assert_allclose(column_means_by(values, effects), column_means(values), atol=1e-12)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 500), (40, 30), (30, 40), (3, 300)])
def test_pieces_give_what_the_whole_gives(rows: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(rows)
    values = np.cumsum(rng.normal(0, 1, (rows, columns)), axis=1)
    values[:, 1:][rng.random((rows, columns - 1)) < 0.1] = np.nan
    groups = np.arange(rows) % 2

    def every() -> tuple[Floats, ...]:
        means = intervals.t_means(values)
        moderated = moderation.widen(values, moderation.moderate(values, means, groups), groups)
        return means.mean, means.half, means.p, moderated.half, moderated.p

    whole = every()
    monkeypatch.setattr("lab.stats.two_way.MOST_VALUES", 50)
    for ours, theirs in zip(every(), whole, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11)


@at_most(40)
@given(st.integers(6, 8), st.integers(0, 200))
def test_ranks_in_floating_point_are_those_in_whole_numbers(power: int, more: int) -> None:
    count = 4**power + more
    assert intervals._rank_of_many(count) in (intervals._rank_by_whole_numbers(count), 0)


def test_most_ranks_need_no_whole_numbers() -> None:
    counts = [4000, 4001, 10_007, 100_000]
    assert [intervals._rank_of_many(count) for count in counts] == list(map(intervals._rank_by_whole_numbers, counts))
    assert intervals.interval_rank(10**9) == pytest.approx(5e8 - 0.98 * 10**4.5, abs=3)


@given(st.lists(st.floats(-1e6, 1e6), max_size=60))
def test_a_median_of_values_in_any_order_is_that_of_sorted_ones(values: list[float]) -> None:
    expected = (intervals.median(np.sort(values)), *intervals.median_interval(values))
    np.testing.assert_array_equal(intervals.median_and_interval(np.array(values)), expected)
