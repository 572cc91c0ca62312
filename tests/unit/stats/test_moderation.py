"""Moderated intervals of few blocks, wider ones of blocks that resemble each other, and those that are too wide."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import polygamma
from scipy.stats import t as student
from statsmodels.tsa.stattools import acf
from support.synthetic_frames import blocks_alike, cases, noise, run

from lab import stats
from lab.design.stopping import LEAST_BLOCKS
from lab.report.prose import chance
from lab.stats.intervals import t_means
from lab.stats.moderation import correlation, fit_prior, independent_rows, inverse_trigamma, moderate, shrink, widen

TOGETHER = np.zeros(12, dtype=np.intp)
TEN = TOGETHER[:10]


@given(st.floats(-6, 6))
def test_trigamma_of_its_inverse_is_the_value(power: float) -> None:
    assert polygamma(1, inverse_trigamma(10**power)) == pytest.approx(10**power, rel=1e-8)


@pytest.mark.parametrize("freedom", [2.0, 6.0])
def test_of_many_rows_the_prior_is_the_one_that_they_come_from(freedom: float) -> None:
    """Variances scale / χ²(8) × 8, each seen by so much freedom: a scaled F, whose two numbers return."""
    rng = np.random.default_rng(1)
    scales = 0.04 * 8 / rng.chisquare(8, 100_000)
    prior = fit_prior(scales * rng.chisquare(freedom, 100_000) / freedom, np.full(100_000, freedom))
    assert prior.freedom == pytest.approx(8, rel=0.1)
    assert prior.variance == pytest.approx(0.04, rel=0.03)


def test_few_rows_or_little_spread_make_another_prior_than_many() -> None:
    few = np.exp([-1.5, -0.5, 0.0, 0.5, 1.5])
    many = np.tile(few, 200)
    assert fit_prior(few, np.full(5, 2.0)).freedom < 0.5 * fit_prior(many, np.full(1000, 2.0)).freedom
    prior = fit_prior(np.array([0.9, 1.0, 1.1] * 100), np.full(300, 2.0))  # they differ by less than chance
    assert [prior.freedom, prior.variance] == pytest.approx([math.inf, 1])
    np.testing.assert_allclose(shrink(np.array([0.5, 4.0]), np.array([2.0, 2.0]), prior), prior.variance)


def test_a_moderated_interval_is_the_t_of_the_shrunken_variance() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, np.exp(rng.normal(0, 1, (12, 1))), (12, 4))
    plain, moderated = t_means(values), moderate(values, t_means(values), TOGETHER)
    variances = values.var(axis=1, ddof=1)
    prior = fit_prior(variances, np.full(12, 3.0))
    assert prior.freedom < 3 * independent_rows(values) - 3
    error = np.sqrt((prior.freedom * prior.variance + 3 * variances) / (prior.freedom + 3) / 4)
    np.testing.assert_allclose(moderated.half, student.ppf(0.975, 3 + prior.freedom) * error)
    np.testing.assert_allclose(moderated.p, 2 * student.sf(np.abs(plain.mean) / error, 3 + prior.freedom))
    np.testing.assert_array_equal(moderated.mean, plain.mean)


def test_rows_that_one_disturbance_moves_do_not_count_as_many() -> None:
    rng = np.random.default_rng(3)
    shared, own = rng.normal(0, 1, (1, 3)), rng.normal(0, 1, (12, 1))
    assert independent_rows(shared + own) == pytest.approx(1)
    values = shared + own + rng.normal(0, 1e-3, (12, 3))
    plain, moderated = t_means(values), moderate(values, t_means(values), TOGETHER)
    assert moderated.freedom.max() < 2.1
    np.testing.assert_allclose(moderated.half, plain.half, rtol=0.05)
    assert independent_rows(rng.normal(0, 1, (12, 2000))) == pytest.approx(12, rel=0.05)


def test_what_has_blocks_enough_or_nobody_to_lend_stays_as_it_is() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(0, np.exp(rng.normal(0, 1, (12, 1))), (12, stats.ENOUGH_BLOCKS))
    plain, fewer = t_means(values), t_means(values[:, 1:])
    np.testing.assert_array_equal(moderate(values, plain, TOGETHER).half, plain.half)
    for groups in (TOGETHER - 1, np.arange(12) // 2):  # none, and pairs
        np.testing.assert_array_equal(moderate(values[:, 1:], fewer, groups).half, fewer.half)
    assert not np.isclose(moderate(values[:, 1:], fewer, TOGETHER).half, fewer.half).any()


def test_rows_without_an_error_neither_lend_nor_borrow() -> None:
    values = np.random.default_rng(5).normal(0, 1, (12, 3))
    expected = moderate(values[2:], t_means(values[2:]), TOGETHER[2:])
    values[0], values[1, 1:] = 0.3, np.nan
    moderated = moderate(values, t_means(values), TOGETHER)
    np.testing.assert_allclose(moderated.half[2:], expected.half)
    assert moderated.half[:2] == pytest.approx([0, np.nan], abs=1e-12, nan_ok=True)
    assert np.isnan(moderated.p[:2]).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_correlation_is_that_of_statsmodels_less_its_bias(seed: int) -> None:
    values = blocks_alike(seed, 6, 30, 0.6)
    lag_one = np.mean([acf(row, nlags=1)[1] for row in values])
    assert correlation(values) == pytest.approx((lag_one + 1 / 30) / (1 - 4 / 30))


def test_the_correlation_of_many_rows_is_found_and_of_independent_ones_in_one_of_twenty_tables() -> None:
    correlations = [correlation(np.random.default_rng(seed).normal(0, 1, (8, 20))) for seed in range(400)]
    assert 0.01 < np.mean(np.array(correlations) > 0) < 0.09
    for alike in (0.3, 0.5, 0.8):
        correlations = [correlation(blocks_alike(seed, 40, 25, alike)) for seed in range(20)]
        assert np.mean(correlations) == pytest.approx(alike, abs=0.05)


def test_an_interval_is_that_of_as_many_blocks_as_these_are_as_good_as() -> None:
    values = blocks_alike(1, 10, 24, 0.6)
    plain, wider, alike = t_means(values), widen(values, t_means(values), TEN), correlation(values)
    count = 24 * (1 - alike) / (1 + alike)
    error = values.std(axis=1, ddof=1) / np.sqrt(count)
    np.testing.assert_allclose(wider.half, student.ppf(0.975, count - 1) * error)
    np.testing.assert_allclose(wider.p, 2 * student.sf(np.abs(values.mean(axis=1)) / error, count - 1))
    assert (wider.half > 1.3 * plain.half).all()


def test_few_blocks_and_holes_change_nothing_that_is_independent() -> None:
    holes = np.random.default_rng(2).random((10, 30)) < 0.2
    with_holes = np.where(holes, np.nan, np.random.default_rng(1).normal(0, 1, (10, 30)))
    for values in (blocks_alike(2, 10, LEAST_BLOCKS - 1, 0.9), with_holes):
        means = t_means(values)
        np.testing.assert_array_equal(widen(values, means, TEN).half, means.half)


def test_blocks_that_resemble_each_other_are_told_and_widen_what_a_star_needs() -> None:
    of = cases(protocol=["afp", "nfs", "smb"], direction=["write", "read"], mtu=[1500, 9000])
    for alike, is_wider in ((0.0, False), (0.9, True)):
        trials = run(of, 0.05 * blocks_alike(5, len(of), 16, alike))
        table = stats.effects(stats.grid(trials), ["mtu"])
        wider = table["moderated_high_pct"] > table["high_pct"] + 1e-9
        assert wider.tolist() == [is_wider] * len(table)
        assert ("resemble the one before" in chance(table)) == is_wider
        lines = stats.wide_effects(trials, ["mtu"], 1e-3)
        assert all(("because blocks resemble the one before" in line) == is_wider for line in lines)


OF = cases(protocol=["afp", "smb"], direction=["write", "read"], mtu=[1500, 9000], tcp_space=["default", 65536])


@pytest.mark.parametrize("seed", range(3))
def test_the_rows_whose_interval_is_too_wide_are_named(seed: int) -> None:
    trials = run(OF, noise(np.random.default_rng(seed), OF, 5))
    table = stats.effects(stats.grid(trials), ["mtu"])
    ends = 100 + table[["low_pct", "high_pct"]].to_numpy()
    half = 100 * (np.sqrt(ends[:, 1] / ends[:, 0]) - 1)
    precision = np.median(half) / 100 * (1 + 1e-9)  # not at the width of a row itself, where rounding decides
    expected = [
        f"MTU 1500 → 9000, {row['protocol'].upper()} cp {row['direction']}: ±{width:.1f} %"
        for row, width in zip(table.to_dict("records"), half, strict=True)
        if width > 100 * precision
    ]
    assert stats.wide_effects(trials, ["mtu"], precision) == expected
    assert len(expected) == 2
    assert stats.wide_effects(trials, ["mtu", "mtu:tcp_space"], 10.0) == []


def test_an_effect_without_an_interval_is_too_wide() -> None:
    trials = run(OF, logs := noise(np.random.default_rng(1), OF, 1))
    assert stats.wide_effects(trials, ["mtu"], 0.1)[:2] == [
        f"MTU 1500 → 9000, {where}: no interval yet (blocks: 1)" for where in ("all cases", "AFP cp write")
    ]
    assert stats.wide_effects(trials, ["mtu:tcp_space"], 0.1)[0] == (
        "MTU 1500 → 9000 with TCP buffer default → 64 KiB, all cases: no interval yet (blocks: 1)"
    )
    assert len(stats.wide_effects(run(OF, logs * np.nan), ["mtu"], 0.1)) == 5
    assert stats.wide_effects(trials[:1], ["mtu"], 0.1) == ["MTU: less than two levels were tried yet"]
    # only widths are looked at: whatever the effects are, the same noise gives the same answer
    logs, shifts = noise(np.random.default_rng(2), OF, 4), np.random.default_rng(3).normal(0, 1, (len(OF), 1))
    plain, shifted = (
        stats.wide_effects(run(OF, made), ["protocol", "mtu", "mtu:tcp_space"], 0.02) for made in (logs, logs + shifts)
    )
    assert plain == shifted
