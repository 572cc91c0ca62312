"""One effect over pairs of hosts: numbers computed again by statsmodels, and what must hold of any."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.meta_analysis import combine_effects

from lab.stats.moderation import ENOUGH_BLOCKS
from lab.stats.over_pairs import LEAST_PAIRS, moderate_errors, pool

EFFECTS = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=3, max_size=12)
ERRORS = st.floats(1e-3, 1.0)


def drawn(seed: int, pairs: int, tau: float) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    errors = chance.uniform(0.02, 0.1, pairs)
    return 0.1 + chance.normal(0, tau, pairs) + chance.normal(0, 1, pairs) * errors, errors


@pytest.mark.parametrize("pairs", [3, 5, 10])
@pytest.mark.parametrize("tau", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_statsmodels_makes_of_it(pairs: int, tau: float, seed: int) -> None:
    effects, errors = drawn(seed, pairs, tau)
    pooled = pool(effects[None], errors[None])
    with np.errstate(invalid="ignore"):  # it leaves a variance below 0 as it is
        of = combine_effects(effects, errors**2, method_re="chi2", use_t=True)
    t = scipy_stats.t.ppf(0.975, pairs - 1)
    if of.tau2 > 0:
        mean, error, scale = of.mean_effect_re, of.sd_eff_w_re, of.scale_hksj_re
        assert pooled.tau[0] == pytest.approx(np.sqrt(of.tau2))
        assert pooled.i2[0] == pytest.approx(of.i2)
    else:
        mean, error, scale = of.mean_effect_fe, of.sd_eff_w_fe, of.scale_hksj_fe
        assert pooled.tau[0] == pooled.i2[0] == 0
    error *= np.sqrt(max(1, scale))
    assert pooled.q[0] == pytest.approx(of.q)
    assert pooled.means.mean[0] == pytest.approx(mean)
    assert pooled.means.error[0] == pytest.approx(error)
    assert pooled.means.half[0] == pytest.approx(t * error)
    assert pooled.means.p[0] == pytest.approx(2 * scipy_stats.t.sf(abs(mean) / error, pairs - 1))
    expected = scipy_stats.t.ppf(0.975, pairs - 2) * np.hypot(pooled.tau[0], error)
    assert pooled.predicted[0] == pytest.approx(expected)


def test_the_published_interval_is_that_of_statsmodels_where_it_is_the_wider_one() -> None:
    wider = 0
    for seed in range(20):
        effects, errors = drawn(seed, 5, 0.3)
        with np.errstate(invalid="ignore"):
            of = combine_effects(effects, errors**2, method_re="dl", use_t=True)
        if of.scale_hksj_re >= 1:
            wider += 1
            low, high = of.conf_int(use_t=True)[3]
            pooled = pool(effects[None], errors[None])
            assert (pooled.means.half * 2)[0] == pytest.approx(high - low)
    assert wider > 3


def test_equal_errors_far_below_tau_leave_students_t_of_the_pairs() -> None:
    effects = np.array([[0.1, 0.3, -0.2, 0.25]])
    pooled = pool(effects, np.full((1, 4), 1e-6))
    expected = scipy_stats.ttest_1samp(effects[0], 0)
    assert pooled.means.p[0] == pytest.approx(expected.pvalue, rel=1e-6)
    low, high = expected.confidence_interval(0.95)
    assert pooled.means.mean[0] - pooled.means.half[0] == pytest.approx(low)
    assert pooled.means.mean[0] + pooled.means.half[0] == pytest.approx(high)


def test_below_three_pairs_there_is_no_interval() -> None:
    nan = np.nan
    effects = np.array([[nan, nan, nan], [0.1, nan, nan], [0.1, 0.3, nan], [0.1, 0.3, 0.2]])
    pooled = pool(effects, np.where(np.isfinite(effects), 0.05, nan))
    assert pooled.means.n.tolist() == [0, 1, 2, LEAST_PAIRS]
    for values in (pooled.means.half, pooled.means.p, pooled.predicted):
        assert np.isfinite(values).tolist() == [False, False, False, True]
    assert np.isfinite(pooled.means.mean).tolist() == [False, True, True, True]


def test_a_pair_without_an_error_does_not_count() -> None:
    effects, errors = drawn(1, 4, 0.1)
    with_more = pool(np.r_[effects, 5.0, 7.0][None], np.r_[errors, np.nan, 0.0][None])
    alone = pool(effects[None], errors[None])
    assert with_more.means.n[0] == 4
    assert with_more.means.half[0] == pytest.approx(alone.means.half[0])


@given(EFFECTS, st.data())
def test_what_holds_of_any_effects(values: list[float], data: st.DataObject) -> None:
    effects = np.array(values)
    errors = np.array(data.draw(st.lists(ERRORS, min_size=len(values), max_size=len(values))))
    pooled = pool(effects[None], errors[None])
    mean, half = pooled.means.mean[0], pooled.means.half[0]
    assert effects.min() - 1e-9 <= mean <= effects.max() + 1e-9
    assert half > 0
    assert pooled.predicted[0] >= half * (1 - 1e-9)  # it has as much, and tau, and one degree of freedom less
    assert 0 <= pooled.i2[0] < 1
    assert (pooled.tau[0] > 0) == (pooled.i2[0] > 0)
    order = data.draw(st.permutations(range(len(values))))
    again = pool(effects[None, order], errors[None, order])
    assert (again.means.mean[0], again.means.half[0]) == pytest.approx((mean, half), rel=1e-6, abs=1e-9)
    turned = pool(-effects[None], errors[None])
    assert (turned.means.mean[0], turned.means.half[0]) == pytest.approx((-mean, half), rel=1e-6, abs=1e-9)
    scaled = pool(3 * effects[None], 3 * errors[None])
    assert (scaled.means.half[0], scaled.tau[0]) == pytest.approx((3 * half, 3 * pooled.tau[0]), rel=1e-6, abs=1e-9)


@given(EFFECTS)
def test_rows_do_not_depend_on_one_another(values: list[float]) -> None:
    effects = np.array(values)
    errors = np.full(len(values), 0.1)
    lacking = np.where(np.arange(len(values)) < 2, effects, np.nan)
    both = pool(np.array([effects, lacking]), np.array([errors, errors]))
    assert both.means.half[0] == pool(effects[None], errors[None]).means.half[0]


def test_pairs_of_few_blocks_borrow_and_those_of_many_do_not() -> None:
    errors = np.array([[0.01, 0.05, 0.06, 0.04, 0.05]])
    blocks = np.array([[3, 3, 3, ENOUGH_BLOCKS, 3]])
    moderated = moderate_errors(errors, blocks)
    assert 0.01 < moderated[0, 0] < 0.05
    assert moderated[0, 2] < 0.06
    assert moderated[0, 3] == 0.04
    many = np.full((1, 5), ENOUGH_BLOCKS)
    assert (moderate_errors(errors, many) == errors).all()


def test_two_pairs_lend_nothing_and_a_pair_without_an_error_neither() -> None:
    errors = np.array([[0.01, 0.05, np.nan, 0.0], [0.01, 0.05, 0.04, 0.0]])
    moderated = moderate_errors(errors, np.full((2, 4), 3))
    assert moderated[0, :2].tolist() == [0.01, 0.05]
    assert moderated[1, 3] == 0
    assert moderated[1, 0] > 0.01
