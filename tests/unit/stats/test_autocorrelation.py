import numpy as np
import pytest
from scipy.stats import t as student
from statsmodels.tsa.stattools import acf
from support.drawn_series import blocks_alike
from support.synthetic_frames import cases, run

from lab import stats
from lab.design.stopping import LEAST_BLOCKS
from lab.report.prose import chance
from lab.stats.intervals import t_means
from lab.stats.moderation import correlation, widen


@pytest.mark.parametrize("seed", range(3))
def test_the_correlation_is_that_of_statsmodels_less_its_bias(seed: int) -> None:
    values = blocks_alike(seed, 6, 30, 0.6)
    lag_one = np.mean([acf(row, nlags=1)[1] for row in values])
    assert correlation(values) == pytest.approx((lag_one + 1 / 30) / (1 - 4 / 30))


@pytest.mark.parametrize("alike", [0.3, 0.5, 0.8])
def test_of_many_rows_the_correlation_that_they_have_is_found(alike: float) -> None:
    correlations = [correlation(blocks_alike(seed, 40, 25, alike)) for seed in range(20)]
    assert np.mean(correlations) == pytest.approx(alike, abs=0.05)


def test_independent_blocks_are_taken_for_alike_in_one_of_twenty_tables() -> None:
    correlations = [correlation(np.random.default_rng(seed).normal(0, 1, (8, 20))) for seed in range(400)]
    assert 0.01 < np.mean(np.array(correlations) > 0) < 0.09


def test_an_interval_is_that_of_as_many_blocks_as_these_are_as_good_as() -> None:
    values = blocks_alike(1, 10, 24, 0.6)
    plain, correlations = t_means(values), widen(values, t_means(values), np.zeros(10, dtype=np.intp))
    alike = correlation(values)
    count = 24 * (1 - alike) / (1 + alike)
    error = values.std(axis=1, ddof=1) / np.sqrt(count)
    np.testing.assert_allclose(correlations.half, student.ppf(0.975, count - 1) * error)
    np.testing.assert_allclose(correlations.p, 2 * student.sf(np.abs(values.mean(axis=1)) / error, count - 1))
    assert (correlations.half > 1.3 * plain.half).all()


def test_few_blocks_and_holes_change_nothing_that_is_independent() -> None:
    values = blocks_alike(2, 10, LEAST_BLOCKS - 1, 0.9)
    few = t_means(values)
    np.testing.assert_array_equal(widen(values, few, np.zeros(10, dtype=np.intp)).half, few.half)
    values = np.random.default_rng(1).normal(0, 1, (10, 30))
    values[np.random.default_rng(2).random(values.shape) < 0.2] = np.nan
    means = t_means(values)
    np.testing.assert_array_equal(widen(values, means, np.zeros(10, dtype=np.intp)).half, means.half)


def test_blocks_that_resemble_each_other_are_told_and_widen_what_a_star_needs() -> None:
    of = cases(protocol=["afp", "nfs", "smb"], direction=["write", "read"], mtu=[1500, 9000])
    for alike, is_wider in ((0.0, False), (0.9, True)):
        trials = run(of, 0.05 * blocks_alike(5, len(of), 16, alike))
        table = stats.effects(stats.grid(trials), ["mtu"])
        wider = table["moderated_high_pct"] > table["high_pct"] + 1e-9
        assert wider.tolist() == [is_wider] * len(table)
        assert ("resemble the one before" in chance(table)) == is_wider
        lines = stats.wide_effects(trials, ["mtu"], 1e-3)
        assert all(("for blocks resemble the one before" in line) == is_wider for line in lines)
