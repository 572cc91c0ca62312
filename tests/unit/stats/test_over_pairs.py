"""Effects and speeds over pairs of hosts: by run in the first stage, over pairs in the second, as by statsmodels."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.meta_analysis import combine_effects
from support.synthetic_frames import at, cases, noise, one, run

from lab import stats
from lab.stats.moderation import ENOUGH_BLOCKS
from lab.stats.over_pairs import LEAST_PAIRS, OverPairs, moderate_errors, over_pairs, pool

OF = cases(protocol=["afp", "smb"], direction=["write", "read"], mtu=[1500, 9000])
FIVE = np.full((1, 4), 5)  # blocks of four pairs
ALL = dict.fromkeys(stats.POOLED, stats.EVERY)
NUMBERS = ["n_blocks", "change_pct", "low_pct", "high_pct"]


def frames(seed: int, effects: Sequence[float], of: pd.DataFrame = OF, blocks: int = 5) -> list[pd.DataFrame]:
    """A run of each pair, whose MTU of 9000 has this effect, and whose speeds are its own."""
    chance = np.random.default_rng(seed)
    jumbo = (of["mtu"] == 9000).to_numpy(float)[:, None]
    return [run(of, noise(chance, of, blocks) + chance.normal(0, 0.5) + effect * jumbo) for effect in effects]


def of_single(runs: Sequence[pd.DataFrame]) -> OverPairs:
    """The result over pairs with one run each."""
    return over_pairs([[frame] for frame in runs])


def test_each_pair_has_the_effect_of_its_own_run() -> None:
    runs = frames(1, [0.1, 0.2, 0.3])
    made = of_single(runs)
    for pair, frame in enumerate(runs):
        alone = stats.effects(stats.grid(frame))
        for place, row in enumerate(stats.rows_of(made.effects)):
            expected = one(alone, **{name: row[name] for name in ("factor", "baseline", "level", *stats.POOLED)})
            numbers = one(made.effects_of_pairs, row=place, pair=pair)[NUMBERS].tolist()
            assert numbers == pytest.approx([5, *expected[NUMBERS[1:]]])
            assert expected["n_blocks"] == 5


def test_the_second_stage_rests_on_the_pairs() -> None:
    made = of_single(frames(2, [0.1, 0.2, 0.3, 0.4]))
    row = one(made.effects, factor="mtu", **ALL)
    of_pairs = at(made.effects_of_pairs, row=row.name)
    errors = of_pairs["standard_error"].to_numpy()[None]
    expected = pool(np.log1p(of_pairs["change_pct"].to_numpy()[None] / 100), moderate_errors(errors, FIVE))
    assert row["n_pairs"] == 4
    logs = np.log1p(row[["change_pct", "high_pct", "tau_pct"]].to_numpy(float) / 100)
    assert logs == pytest.approx([expected.means.mean[0], expected.means.ends[2, 0], expected.tau[0]])
    assert row["predicted_low_pct"] < row["low_pct"] < row["change_pct"] < row["high_pct"] < row["predicted_high_pct"]


def test_more_blocks_do_not_make_pairs_that_differ_certain() -> None:
    widths = []
    for blocks in (4, 60):
        row = one(of_single(frames(3, [-0.3, 0.1, 0.5], blocks=blocks)).effects, factor="mtu", **ALL)
        widths.append(row["high_pct"] - row["low_pct"])
        assert not row["established"]
        assert row["i2"] > 0.9
    assert widths[1] > 0.5 * widths[0]


def test_runs_of_one_pair_are_one_pair_and_two_are_too_few() -> None:
    runs = frames(5, [0.1, 0.1, 0.2, 0.3])
    made = over_pairs([runs[:2], runs[2:3], runs[3:]])
    row = one(made.effects, factor="mtu", **ALL)
    assert row["n_pairs"] == 3
    assert at(made.effects_of_pairs, row=row.name)["n_blocks"].tolist() == [10, 5, 5]
    made = of_single(frames(4, [0.3, 0.31]))  # two pairs have no interval over pairs
    assert made.effects["low_pct"].isna().all()
    assert not made.effects["established"].any()
    assert made.effects_of_pairs["low_pct"].notna().all()
    assert made.speeds["low_MB_per_s"].isna().all()


def test_an_overall_effect_is_of_cases_that_all_pairs_have() -> None:
    """One pair has no AFP, where MTU does much: its overall row alone would be another effect."""
    runs = frames(6, [0.1, 0.1, 0.1])
    jumbo_afp = (OF["mtu"] == 9000) & (OF["protocol"] == "afp")
    for frame in runs:
        frame.loc[np.tile(jumbo_afp.to_numpy(), 5), "MB_per_s"] *= 2
    runs[2] = runs[2][runs[2]["protocol"] != "afp"].reset_index(drop=True)
    effects = of_single(runs).effects
    row = one(effects, factor="mtu", **ALL)
    assert (row["n_pairs"], row["change_pct"]) == (3, pytest.approx(10.5, abs=3))
    afp = one(effects, factor="mtu", protocol="afp", tool="cp", direction="write")
    assert (afp["n_pairs"], np.isnan(afp["p_value"])) == (2, True)
    assert one(effects, factor="protocol", **ALL)["n_pairs"] == 2  # the third has nothing to compare


def test_speeds_are_geometric_means_over_pairs() -> None:
    runs = frames(7, [0.1, 0.2, 0.3])
    speeds, case = of_single(runs).speeds, {"protocol": "smb", "direction": "read", "mtu": 9000}
    logs = [np.log(at(frame, **case)["MB_per_s"]) for frame in runs]
    errors = np.array([[of_run.std(ddof=1) / np.sqrt(5) for of_run in logs]])
    expected = pool(np.array([[of_run.mean() for of_run in logs]]), moderate_errors(errors, FIVE[:, :3]))
    numbers = one(speeds, **case)[["MB_per_s", "low_MB_per_s"]].tolist()
    assert numbers == pytest.approx(np.exp(expected.means.ends[:2, 0]))
    assert len(speeds) == len(OF)
    sized = [[frame.assign(size_bytes=2 ** (20 + pair))] for pair, frame in enumerate(runs)]
    assert (over_pairs(sized).speeds["n_pairs"] == 3).all()  # a payload of another size is the same case


def test_p_values_are_adjusted_overall_rows_first() -> None:
    table = of_single(frames(9, [0.2, 0.22, 0.21, 0.2, 0.19])).effects
    comparison, is_overall = stats.comparisons(table)
    assert (np.diff(comparison) >= 0).all()
    assert is_overall.sum() == 2  # protocol and MTU
    assert (table["p_adjusted"] >= table["p_value"] - 1e-12).all()
    assert one(table, factor="mtu", **ALL)["established"]
    assert not one(table, factor="protocol", **ALL)["established"]


def test_the_same_pairs_in_another_order_say_the_same() -> None:
    runs = frames(10, [0.1, 0.2, 0.4, 0.3])
    keys = ["factor", "level", *stats.POOLED]
    there, back = (of_single(some).effects.sort_values(keys, ignore_index=True) for some in (runs, runs[::-1]))
    pd.testing.assert_frame_equal(there, back)


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
        assert [pooled.tau[0], pooled.i2[0]] == pytest.approx([np.sqrt(of.tau2), of.i2])
        if scale >= 1:  # else the published interval is the narrower one
            low, high = of.conf_int(use_t=True)[3]
            assert 2 * pooled.means.half[0] == pytest.approx(high - low)
    else:
        mean, error, scale = of.mean_effect_fe, of.sd_eff_w_fe, of.scale_hksj_fe
        assert pooled.tau[0] == pooled.i2[0] == 0
    error *= np.sqrt(max(1, scale))
    means = pooled.means
    numbers = [values[0] for values in (pooled.q, means.mean, means.error, means.half, means.p, pooled.predicted)]
    p = 2 * scipy_stats.t.sf(abs(mean) / error, pairs - 1)
    predicted = scipy_stats.t.ppf(0.975, pairs - 2) * np.hypot(pooled.tau[0], error)
    assert numbers == pytest.approx([of.q, mean, error, t * error, p, predicted])


def test_equal_errors_far_below_tau_leave_students_t_of_the_pairs_which_needs_three() -> None:
    effects = np.array([[0.1, 0.3, -0.2, 0.25]])
    means, expected = pool(effects, np.full((1, 4), 1e-6)).means, scipy_stats.ttest_1samp(effects[0], 0)
    assert [means.p[0], *means.ends[1:, 0]] == pytest.approx([expected.pvalue, *expected.confidence_interval(0.95)])
    nan = np.nan
    effects = np.array([[nan, nan, nan], [0.1, nan, nan], [0.1, 0.3, nan], [0.1, 0.3, 0.2]])
    pooled = pool(effects, np.where(np.isfinite(effects), 0.05, nan))
    assert pooled.means.n.tolist() == [0, 1, 2, LEAST_PAIRS]
    for values in (pooled.means.half, pooled.means.p, pooled.predicted):
        assert np.isfinite(values).tolist() == [False, False, False, True]
    assert np.isfinite(pooled.means.mean).tolist() == [False, True, True, True]
    effects, errors = drawn(1, 4, 0.1)
    with_more, alone = pool(np.r_[effects, 5, 7][None], np.r_[errors, nan, 0][None]), pool(effects[None], errors[None])
    # a pair without an error does not count
    assert [with_more.means.n[0], with_more.means.half[0]] == pytest.approx([4, alone.means.half[0]])


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
    again, turned = pool(effects[None, order], errors[None, order]), pool(-effects[None], errors[None])
    assert (again.means.mean[0], again.means.half[0]) == pytest.approx((mean, half), rel=1e-6, abs=1e-9)
    assert (turned.means.mean[0], turned.means.half[0]) == pytest.approx((-mean, half), rel=1e-6, abs=1e-9)
    scaled = pool(3 * effects[None], 3 * errors[None])
    assert (scaled.means.half[0], scaled.tau[0]) == pytest.approx((3 * half, 3 * pooled.tau[0]), rel=1e-6, abs=1e-9)


@given(EFFECTS)
def test_rows_do_not_depend_on_one_another(values: list[float]) -> None:
    effects, errors = np.array(values), np.full(len(values), 0.1)
    lacking = np.where(np.arange(len(values)) < 2, effects, np.nan)
    both = pool(np.array([effects, lacking]), np.array([errors, errors]))
    assert both.means.half[0] == pool(effects[None], errors[None]).means.half[0]


def test_pairs_of_few_blocks_borrow_if_there_are_three_with_an_error() -> None:
    errors = np.array([[0.01, 0.05, 0.06, 0.04, 0.05]])
    moderated = moderate_errors(errors, np.array([[3, 3, 3, ENOUGH_BLOCKS, 3]]))
    assert 0.01 < moderated[0, 0] < 0.05
    assert moderated[0, 2] < 0.06
    assert moderated[0, 3] == 0.04
    assert (moderate_errors(errors, np.full((1, 5), ENOUGH_BLOCKS)) == errors).all()
    errors = np.array([[0.01, 0.05, np.nan, 0.0], [0.01, 0.05, 0.04, 0.0]])
    moderated = moderate_errors(errors, np.full((2, 4), 3))
    assert moderated[[0, 0, 1], [0, 1, 3]].tolist() == [0.01, 0.05, 0]
    assert moderated[1, 0] > 0.01
