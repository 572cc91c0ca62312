import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import theilslopes
from statsmodels.stats.weightstats import DescrStatsW
from support.synthetic_frames import cases, noise, run

from lab import stats
from lab.report.prose import drift_sentence
from lab.stats.drift_slopes import MOST_POINTS, theil_sen

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
    found = stats.drift(with_anchors(run(OF, noise(rng, OF, 8)), logs))
    expected = DescrStatsW(logs[2] - logs[0])
    assert found.n_blocks == 8
    assert found.anchored
    ends = expected.tconfint_mean()
    assert found.in_block_pct == pytest.approx(100 * np.expm1([expected.mean, *ends]))


def test_a_steady_drift_is_found_in_anchors_and_without_them() -> None:
    hours = np.arange(9) * 40 / 3600
    logs = np.tile(4.6 - 0.3 * hours, (4, 1)) + np.arange(4)[:, None]
    trials = run(OF, logs)
    plain, anchored = stats.drift(trials), stats.drift(with_anchors(trials, logs[:1]))
    assert (plain.anchored, anchored.anchored) == (False, True)
    assert plain.over_run_pct == pytest.approx([100 * np.expm1(-0.3 * hours[-1])] * 3)
    assert anchored.over_run_pct == pytest.approx([100 * np.expm1(-0.3 * hours[-1])] * 3)
    assert anchored.n_blocks == 0
    assert np.isnan(anchored.in_block_pct).all()


def test_a_case_that_only_late_blocks_have_is_no_drift() -> None:
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
    wide = theil_sen(x, y, alike=0.5)  # neighbours that resemble each other make it less certain
    assert wide[0] == slope
    assert wide[1] < low < high < wide[2]
    assert slope == pytest.approx(expected.slope)
    inside = np.sort([(y[j] - y[i]) / (x[j] - x[i]) for i, j in itertools.combinations(range(40), 2)])
    # both round a rank, not always alike: one slope further out at the most
    for end, other in ((low, expected.low_slope), (high, expected.high_slope)):
        assert abs(np.searchsorted(inside, end) - np.searchsorted(inside, other)) <= 1


@pytest.mark.parametrize("count", range(2, 8))
def test_the_interval_of_a_slope_covers_95_percent_by_enumeration(count: int) -> None:
    """Without a drift every order of the speeds is equally likely; then 0 has to be inside."""
    x = np.arange(count, dtype=float)
    found = [theil_sen(x, np.array(order, dtype=float)) for order in itertools.permutations(range(count))]
    ends = np.array(found)[:, 1:]
    if count < 6:  # the normal approximation gives no rank
        assert np.isnan(ends).all()
    else:
        assert np.mean((ends[:, 0] <= 0) & (ends[:, 1] >= 0)) >= 0.95
    many = np.arange(3.0 * MOST_POINTS)  # are taken together
    assert theil_sen(many, count * many)[0] == pytest.approx(count)
    assert np.isnan(theil_sen(many[:1], many[:1])).all()


def test_drift_is_said_in_a_sentence() -> None:
    said = drift_sentence(stats.Drift((-1.25, -2.0, -0.5), 8, (-0.4, np.nan, np.nan), 3, True))
    assert said == (
        "Inside a block the anchor changed by -1.2 % [-2.0, -0.5] (n = 8 blocks); "
        "from its first block to its last speeds changed by -0.4 % [no interval], all cases together (n = 3 blocks)."
    )
    nothing = (np.nan, np.nan, np.nan)
    assert drift_sentence(stats.Drift(nothing, 0, nothing, 1, False)) == "One block cannot tell if anything drifted."
