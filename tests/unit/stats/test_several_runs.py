"""Several runs over a first one: numbers computed again by scipy and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp, ttest_ind
from statsmodels.stats.multitest import multipletests
from support.synthetic_frames import cases, noise, run

from lab import stats
from lab.stats.two_runs import compare_all, slower_p

OF = cases(protocol=["afp", "smb"], direction=["write", "read"], mtu=[1500, 9000])
LINK = cases(direction=["write", "read"], mtu=[1500, 9000])


def frames(seed: int, *shifts: float, blocks: int = 6) -> list[pd.DataFrame]:
    """The base, and a run for each shift of all its log speeds."""
    rng = np.random.default_rng(seed)
    return [run(OF, noise(rng, OF, blocks) + shift) for shift in (0.0, *shifts)]


def logs_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Log speeds, cases × blocks."""
    return frame.assign(log=np.log(frame["MB_per_s"])).pivot_table("log", "case_id", "block")


@pytest.mark.parametrize("seed", range(3))
def test_overall_is_welch_on_the_means_of_blocks(seed: int) -> None:
    base, other = frames(seed, 0.3)
    (versus,) = compare_all(base, [other])
    (row,) = versus.overall.to_dict("records")
    expected = ttest_ind(logs_of(other).mean(), logs_of(base).mean(), equal_var=False)
    assert versus.n_cases == len(OF)
    assert row["p_value"] == pytest.approx(expected.pvalue)
    assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(tuple(np.exp(expected.confidence_interval(0.95))))


def test_one_run_alone_has_the_numbers_of_compare() -> None:
    base, other = frames(1, 0.2)
    (versus,) = compare_all(base, [other])
    table, pooled = stats.compare(base, other)
    pd.testing.assert_frame_equal(versus.cases, table)
    pd.testing.assert_frame_equal(versus.pooled, pooled)


def test_p_values_are_adjusted_over_all_runs_of_a_table() -> None:
    base, *others = frames(2, 0.02, 0.05, 0.0)
    compared = compare_all(base, others)
    for name in ("cases", "pooled", "overall"):
        tables = [getattr(versus, name) for versus in compared]
        every = np.concatenate([table["p_value"] for table in tables])
        _, expected, *_ = multipletests(every, method="holm")
        assert np.concatenate([table["p_adjusted"] for table in tables]) == pytest.approx(expected)


def test_a_trial_that_failed_costs_no_block_of_all_cases_together() -> None:
    base, other = frames(3, 0.1)
    whole = compare_all(base, [other])[0].overall["ratio"].iloc[0]
    holes = np.array(other["MB_per_s"])
    holes[[0, 9, 18, 27, 36, 45]] = np.nan
    broken = other.assign(MB_per_s=holes, status=np.where(np.isnan(holes), "failed", "ok"))
    (versus,) = compare_all(base, [broken])
    assert versus.overall["n_b"].tolist() == [6]
    assert versus.overall["ratio"].iloc[0] == pytest.approx(whole, rel=0.01)
    assert versus.n_cases == len(OF)


def test_a_case_that_always_failed_in_one_run_is_in_neither_mean() -> None:
    base, other = frames(4, 0.0)
    slow = base["case_id"] == base["case_id"].iloc[0]
    base.loc[slow, "MB_per_s"] /= 1000
    lost = other["case_id"] == other["case_id"].iloc[0]
    other.loc[lost, "MB_per_s"] = np.nan
    other.loc[lost, "status"] = "failed"
    (versus,) = compare_all(base, [other])
    assert versus.n_cases == len(OF) - 1
    assert versus.overall["ratio"].iloc[0] == pytest.approx(1, abs=0.2)


def test_runs_without_a_good_trial_in_common_have_no_overall_row() -> None:
    base, other = frames(5, 0.0)
    (versus,) = compare_all(base, [other.assign(status="void")])
    assert versus.overall.empty
    assert versus.n_cases == 0


def with_link(frame: pd.DataFrame, speed: float, blocks: int = 6) -> pd.DataFrame:
    """The run, and a ceiling of its link in each block."""
    rng = np.random.default_rng(int(speed))
    link = run(LINK, np.log(speed) + rng.normal(0, 0.01, (len(LINK), blocks)), protocol="link", tool="iperf3")
    link["trial_id"] = "l" + link["trial_id"]
    return pd.concat([frame, link], ignore_index=True)


def test_the_link_is_compared_by_direction() -> None:
    base, other = frames(6, 0.0)
    base, other = with_link(base, 100), with_link(other, 70)
    (versus,) = compare_all(base, [other])
    assert sorted(versus.link["direction"]) == ["read", "write"]
    assert versus.link["established"].all()
    for row in versus.link.to_dict("records"):
        one, two = (
            logs_of(frame[(frame["protocol"] == "link") & (frame["direction"] == row["direction"])]).mean()
            for frame in (base, other)
        )
        expected = ttest_ind(two, one, equal_var=False)
        assert row["ratio"] == pytest.approx(np.exp(two.mean() - one.mean()))
        assert row["p_value"] == pytest.approx(expected.pvalue)
    assert len(versus.cases) == len(OF)  # the link is no case


def test_runs_of_which_one_has_no_link_have_no_row_of_it() -> None:
    base, other = frames(7, 0.0)
    assert compare_all(with_link(base, 100), [other])[0].link.empty


@pytest.mark.parametrize("percent", [0, 10, 25])
def test_slower_by_more_is_a_test_against_that_ratio(percent: float) -> None:
    base, other = frames(8, -0.3)
    pooled = compare_all(base, [other])[0].pooled
    (adjusted,) = slower_p([pooled], percent)
    plain = []
    for row in pooled.to_dict("records"):
        at = [
            (frame["protocol"] == row["protocol"]) & (frame["direction"] == row["direction"]) for frame in (base, other)
        ]
        one, two = (logs_of(frame[chosen]).mean() for frame, chosen in zip((base, other), at, strict=True))
        test = ttest_ind(two, one + np.log(1 - percent / 100), equal_var=False)
        plain.append(test.pvalue if test.statistic < 0 else 1.0)
    _, expected, *_ = multipletests(plain, method="holm")
    assert adjusted == pytest.approx(expected)


def test_faster_is_never_slower_and_one_block_tells_nothing() -> None:
    base, faster, one_block = *frames(9, 1.0), frames(10, blocks=1)[0]
    fast, unknown = slower_p([versus.pooled for versus in compare_all(base, [faster, one_block])], 0)
    assert (fast == 1).all()
    assert np.isnan(unknown).all()


def test_no_scatter_is_no_proof() -> None:
    base = run(OF, np.full((len(OF), 4), 4.0))
    (versus,) = compare_all(base, [run(OF, np.full((len(OF), 4), 3.0))])
    assert np.isnan(slower_p([versus.pooled], 10)[0]).all()
    assert ttest_1samp([0.0, 0.0], 1.0).pvalue == 0  # which a test that took it for a proof would say
