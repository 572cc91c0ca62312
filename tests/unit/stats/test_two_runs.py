"""Runs over a first one: numbers computed again by scipy and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp, ttest_ind
from statsmodels.stats.multitest import multipletests
from support.synthetic_frames import at, cases, noise, run

from lab.stats.two_runs import Versus, compare_all, slower_p

OF = cases(protocol=["afp", "smb"], direction=["write", "read"], mtu=[1500, 9000])
LINK = cases(direction=["write", "read"], mtu=[1500, 9000])
FEW = cases(protocol=["afp", "smb"], mtu=[1500, 9000])


def over(base: pd.DataFrame, other: pd.DataFrame) -> Versus:
    (versus,) = compare_all(base, [other])
    return versus


def frames(seed: int, *shifts: float, blocks: int = 6) -> list[pd.DataFrame]:
    """The base, and a run for each shift of all its log speeds."""
    rng = np.random.default_rng(seed)
    return [run(OF, noise(rng, OF, blocks) + shift) for shift in (0.0, *shifts)]


def logs_of(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(log=np.log(frame["MB_per_s"])).pivot_table("log", "case_id", "block")


@pytest.mark.parametrize("seed", range(5))
def test_cases_are_compared_by_welch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = noise(rng, FEW, 5), noise(rng, FEW, 8) + rng.normal(0, 0.2, 8)
    versus = over(run(FEW, a), run(FEW, b))
    table, pooled = versus.cases, versus.pooled
    assert len(table) == 4
    for number, row in enumerate(table.to_dict("records")):
        expected = ttest_ind(b[number], a[number], equal_var=False)
        ends = 100 * np.expm1(expected.confidence_interval(0.95))
        assert (row["n_a"], row["n_b"]) == (5, 8)
        assert (row["low_pct"], row["high_pct"]) == pytest.approx(tuple(ends))
        assert row["p_value"] == pytest.approx(expected.pvalue)
        assert row["degrees_of_freedom"] == pytest.approx(expected.df)
        assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(tuple(1 + ends / 100))
        assert row["ratio"] == pytest.approx(np.exp(b[number].mean() - a[number].mean()))
    together = ttest_ind(b[2:].mean(axis=0), a[2:].mean(axis=0), equal_var=False)
    assert pooled["protocol"].tolist() == ["afp", "smb"]
    assert pooled["p_value"].iloc[1] == pytest.approx(together.pvalue)


def test_only_common_cases_are_compared_and_pooled_in_blocks_that_have_them_all() -> None:
    rng = np.random.default_rng(1)
    more = cases(protocol=["afp", "smb", "nfs"], mtu=[1500, 4000, 9000])
    a, b = noise(rng, FEW, 4), noise(rng, more, 3)
    a[0, 0] = np.nan
    versus = over(run(FEW, a), run(more, b))
    table, pooled = versus.cases, versus.pooled
    assert table[["protocol", "mtu", "n_a"]].to_numpy().tolist() == [
        ["afp", 1500, 3], ["afp", 9000, 4], ["smb", 1500, 4], ["smb", 9000, 4],
    ]  # fmt: skip
    assert pooled["n_a"].tolist() == [3, 4]
    assert pooled["n_b"].tolist() == [3, 3]


def test_one_block_has_a_ratio_and_no_interval_and_other_sizes_are_other_cases() -> None:
    logs = noise(np.random.default_rng(3), FEW, 3)
    table = over(run(FEW, logs[:, :1]), run(FEW, logs)).cases
    assert np.isfinite(table["change_pct"]).all()
    assert table[["low_pct", "p_value"]].isna().all(axis=None)
    assert not table["established"].any()
    versus = over(run(FEW, logs), run(FEW, logs, size_bytes=1000))
    assert versus.cases.empty
    assert versus.pooled.empty


@pytest.mark.parametrize("seed", range(3))
def test_overall_is_welch_on_the_means_of_blocks(seed: int) -> None:
    base, other = frames(seed, 0.3)
    versus = over(base, other)
    (row,) = versus.overall.to_dict("records")
    expected = ttest_ind(logs_of(other).mean(), logs_of(base).mean(), equal_var=False)
    assert versus.n_cases == len(OF)
    assert row["p_value"] == pytest.approx(expected.pvalue)
    assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(tuple(np.exp(expected.confidence_interval(0.95))))


def test_p_values_are_adjusted_over_all_runs_of_a_table() -> None:
    base, *others = frames(2, 0.02, 0.05, 0.0)
    compared = compare_all(base, others)
    for name in ("cases", "pooled", "overall"):
        tables = [getattr(versus, name) for versus in compared]
        every = np.concatenate([table["p_value"] for table in tables])
        _, expected, *_ = multipletests(every, method="holm")
        assert np.concatenate([table["p_adjusted"] for table in tables]) == pytest.approx(expected)


def test_a_failed_trial_costs_no_block_and_a_failed_case_is_in_neither_mean() -> None:
    base, other = frames(3, 0.1)
    whole = over(base, other).overall["ratio"].iloc[0]
    holes = other["MB_per_s"].mask(other.index.isin([0, 9, 18, 27, 36, 45]))
    broken = other.assign(MB_per_s=holes, status=np.where(holes.isna(), "failed", "ok"))
    versus = over(base, broken)
    assert versus.overall["n_b"].tolist() == [6]
    assert versus.overall["ratio"].iloc[0] == pytest.approx(whole, rel=0.01)
    assert versus.n_cases == len(OF)
    base, other = frames(4, 0.0)
    base.loc[base["case_id"] == base["case_id"].iloc[0], "MB_per_s"] /= 1000
    lost = other["case_id"] == other["case_id"].iloc[0]  # always failed in one run: it is in neither mean
    versus = over(base, other.assign(MB_per_s=other["MB_per_s"].mask(lost), status=np.where(lost, "failed", "ok")))
    assert versus.n_cases == len(OF) - 1
    assert versus.overall["ratio"].iloc[0] == pytest.approx(1, abs=0.2)


def with_link(frame: pd.DataFrame, speed: float, blocks: int = 6) -> pd.DataFrame:
    """The run, and a ceiling of its link in each block."""
    rng = np.random.default_rng(int(speed))
    link = run(LINK, np.log(speed) + rng.normal(0, 0.01, (len(LINK), blocks)), protocol="link", tool="iperf3")
    link["trial_id"] = "l" + link["trial_id"]
    return pd.concat([frame, link], ignore_index=True)


def test_the_link_is_compared_by_direction() -> None:
    base, other = frames(6, 0.0)
    base, other = with_link(base, 100), with_link(other, 70)
    versus = over(base, other)
    assert sorted(versus.link["direction"]) == ["read", "write"]
    assert versus.link["established"].all()
    for row in versus.link.to_dict("records"):
        own = {"protocol": "link", "direction": row["direction"]}
        one, two = (logs_of(at(frame, **own)).mean() for frame in (base, other))
        expected = ttest_ind(two, one, equal_var=False)
        assert row["ratio"] == pytest.approx(np.exp(two.mean() - one.mean()))
        assert row["p_value"] == pytest.approx(expected.pvalue)
    assert len(versus.cases) == len(OF)  # the link is no case


def test_nothing_in_common_has_no_row() -> None:
    base, other = frames(7, 0.0)
    assert over(with_link(base, 100), other).link.empty
    versus = over(base, other.assign(status="void"))
    assert versus.overall.empty
    assert versus.n_cases == 0


@pytest.mark.parametrize("percent", [0, 10, 25])
def test_slower_by_more_is_a_test_against_that_ratio(percent: float) -> None:
    base, other = frames(8, -0.3)
    pooled = over(base, other).pooled
    (adjusted,) = slower_p([pooled], percent)
    plain = []
    for row in pooled.to_dict("records"):
        own = {"protocol": row["protocol"], "direction": row["direction"]}
        one, two = (logs_of(at(frame, **own)).mean() for frame in (base, other))
        test = ttest_ind(two, one + np.log(1 - percent / 100), equal_var=False)
        plain.append(test.pvalue if test.statistic < 0 else 1.0)
    _, expected, *_ = multipletests(plain, method="holm")
    assert adjusted == pytest.approx(expected)


def test_faster_is_never_slower_and_neither_one_block_nor_no_scatter_proves_anything() -> None:
    base, faster, one_block = *frames(9, 1.0), frames(10, blocks=1)[0]
    fast, unknown = slower_p([versus.pooled for versus in compare_all(base, [faster, one_block])], 0)
    assert (fast == 1).all()
    assert np.isnan(unknown).all()
    versus = over(run(OF, np.full((len(OF), 4), 4.0)), run(OF, np.full((len(OF), 4), 3.0)))
    assert np.isnan(slower_p([versus.pooled], 10)[0]).all()
    assert ttest_1samp([0.0, 0.0], 1.0).pvalue == 0  # a test that took it for a proof would say so
