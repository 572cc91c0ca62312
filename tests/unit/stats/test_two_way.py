"""Row and column effects by least squares, and drifts by them; grids in parts have the numbers of the whole."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import theilslopes
from statsmodels.formula.api import ols
from statsmodels.stats.weightstats import DescrStatsW
from support.examples import at_most
from support.synthetic_frames import GRID, cases, noise, run

from lab import stats
from lab.report.prose import drift_sentence
from lab.stats import intervals, moderation
from lab.stats.contrasts import compare_parts
from lab.stats.drift_slopes import MOST_POINTS, theil_sen
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
    assert rows == pytest.approx([1, 1, 1, np.nan, np.nan], nan_ok=True)
    assert columns == pytest.approx([0, 0, 0, np.nan, np.nan], nan_ok=True)
    assert np.isnan(column_means(np.full((2, 3), np.nan))).all()
    assert np.isnan(column_means(np.empty((0, 3)))).all()


def some_of(grid: Grid, begin: int, end: int) -> Grid:
    """Some blocks of a grid."""
    part: dict[str, Any] = {"log_speed": grid.log_speed[:, begin:end], "tried": grid.tried[:, begin:end]}
    return replace(grid, blocks=grid.blocks[begin:end], **part)


@at_most(40)
@given(st.integers(0, 10**6), st.integers(1, 15), st.sampled_from([0, 0.05, 0.5, 0.95]), st.sampled_from([1, 0.8, 0.4]))
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

    of_effects = effect_contrasts, effect_table, stats.effects
    of_interactions = interaction_contrasts, interaction_table, stats.interactions
    for contrasts, table, whole in (of_effects, of_interactions):
        rows, log_ratios = compare_parts(some_of(grid, 0, 0), parts, list(contrasts(grid)), stats.POOLED, np.empty)
        parted = table(rows, log_ratios=log_ratios)
        pd.testing.assert_frame_equal(parted, whole(grid), rtol=1e-9, atol=1e-10, check_dtype=False)


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
    effects, expected = rows.solve(), two_way(values)[0]
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


OF = cases(mtu=[1500, 9000], tcp_space=["default", 65536])


def with_anchors(trials: pd.DataFrame, logs: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> pd.DataFrame:
    """The trials and, in each block, anchors of the given log speeds (anchors × blocks), in that order."""
    first = trials.drop_duplicates("block")
    rows = enumerate(np.exp(logs))
    anchors = [first.assign(anchor=True, position=100 + number, MB_per_s=row) for number, row in rows]
    return pd.concat([trials, *reversed(anchors)], ignore_index=True)


def test_the_last_anchor_of_a_block_over_its_first() -> None:
    rng = np.random.default_rng(1)
    logs = 4.6 + rng.normal(0, 0.01, (3, 8)) + np.array([[0], [0.5], [-0.02]])
    drift, expected = stats.drift(with_anchors(run(OF, noise(rng, OF, 8)), logs)), DescrStatsW(logs[2] - logs[0])
    assert (drift.n_blocks, drift.anchored) == (8, True)
    assert drift.in_block_pct == pytest.approx(100 * np.expm1([expected.mean, *expected.tconfint_mean()]))


def test_a_steady_drift_is_found_in_anchors_and_without_them() -> None:
    hours = np.arange(9) * 40 / 3600
    logs = np.tile(4.6 - 0.3 * hours, (4, 1)) + np.arange(4)[:, None]
    trials = run(OF, logs)
    plain, anchored = stats.drift(trials), stats.drift(with_anchors(trials, logs[:1]))
    assert (plain.anchored, anchored.anchored, anchored.n_blocks) == (False, True, 0)
    assert [*plain.over_run_pct, *anchored.over_run_pct] == pytest.approx([100 * np.expm1(-0.3 * hours[-1])] * 6)
    assert np.isnan(anchored.in_block_pct).all()
    # a case that only late blocks have is no drift
    logs = np.tile(np.array([[4.0], [4.5], [5.0], [5.5]]), 6)
    logs[3, :3] = np.nan
    trials = run(OF, logs)
    assert stats.drift(trials).over_run_pct == pytest.approx([0, 0, 0], abs=1e-9)
    assert stats.from_own_case(trials).dropna().to_numpy() == pytest.approx(np.zeros(21), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_anchors_of_other_cases_in_each_block_are_joined_by_the_transfers(seed: int) -> None:
    """Each block's anchor repeats its own first case: alone they could not tell a drift from what cases differ by."""
    rng = np.random.default_rng(seed)
    trials = run(OF, rng.normal(0, 1, (4, 1)) + np.log(0.9) * np.linspace(0, 1, 7))
    first = trials.sample(frac=1, random_state=seed).drop_duplicates("block").assign(anchor=True, position=100)
    drift = stats.drift(pd.concat([trials, first], ignore_index=True))
    assert drift.over_run_pct[0] == pytest.approx(-10, abs=1.5)  # a block's time is the median of its trials'


@pytest.mark.parametrize("seed", range(5))
def test_the_slope_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.uniform(0, 10, 40)), rng.normal(0, 1, 40)
    expected = theilslopes(y, x, 0.95)
    slope, low, high = theil_sen(x, y)
    same_slope, lower, higher = theil_sen(x, y, alike=0.5)  # neighbours that resemble each other make it less certain
    assert lower < low < high < higher
    assert slope == same_slope == pytest.approx(expected.slope)
    inside = np.sort([(y[j] - y[i]) / (x[j] - x[i]) for i, j in itertools.combinations(range(40), 2)])
    # both round a rank, not always alike: one slope further out at the most
    for end, other in ((low, expected.low_slope), (high, expected.high_slope)):
        assert abs(np.searchsorted(inside, end) - np.searchsorted(inside, other)) <= 1


@pytest.mark.parametrize("count", range(2, 8))
def test_the_interval_of_a_slope_covers_95_percent_by_enumeration(count: int) -> None:
    """Without a drift every order of the speeds is equally likely; then 0 has to be inside."""
    x = np.arange(count, dtype=float)
    slopes = [theil_sen(x, np.array(order, dtype=float)) for order in itertools.permutations(range(count))]
    ends = np.array(slopes)[:, 1:]
    if count < 6:  # the normal approximation gives no rank
        assert np.isnan(ends).all()
    else:
        assert np.mean((ends[:, 0] <= 0) & (ends[:, 1] >= 0)) >= 0.95
    many = np.arange(3.0 * MOST_POINTS)  # are taken together
    assert theil_sen(many, count * many)[0] == pytest.approx(count)
    assert np.isnan(theil_sen(many[:1], many[:1])).all()


def test_drift_is_said_in_a_sentence() -> None:
    assert drift_sentence(stats.Drift((-1.25, -2.0, -0.5), 8, (-0.4, np.nan, np.nan), 3, True)) == (
        "Inside a block the anchor changed by -1.2 % [-2.0, -0.5] (n = 8 blocks); "
        "from its first block to its last speeds changed by -0.4 % [no interval], all cases together (n = 3 blocks)."
    )
    nothing = (np.nan, np.nan, np.nan)
    assert drift_sentence(stats.Drift(nothing, 0, nothing, 1, False)) == "One block cannot tell if anything drifted."
