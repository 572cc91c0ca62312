"""One run over another: the same as scipy, case by case and pooled."""

import numpy as np
import pytest
from scipy.stats import ttest_ind
from support.synthetic_frames import cases, noise, run

from lab import stats

OF = cases(protocol=["afp", "smb"], mtu=[1500, 9000])


@pytest.mark.parametrize("seed", range(5))
def test_cases_are_compared_by_welch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = noise(rng, OF, 5), noise(rng, OF, 8) + rng.normal(0, 0.2, 8)
    table, pooled = stats.compare(run(OF, a), run(OF, b))
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
    a, b = noise(rng, OF, 4), noise(rng, more, 3)
    a[0, 0] = np.nan
    table, pooled = stats.compare(run(OF, a), run(more, b))
    assert table[["protocol", "mtu", "n_a"]].to_numpy().tolist() == [
        ["afp", 1500, 3], ["afp", 9000, 4], ["smb", 1500, 4], ["smb", 9000, 4],
    ]  # fmt: skip
    assert pooled["n_a"].tolist() == [3, 4]
    assert pooled["n_b"].tolist() == [3, 3]


def test_another_size_is_another_case() -> None:
    logs = noise(np.random.default_rng(2), OF, 2)
    table, pooled = stats.compare(run(OF, logs), run(OF, logs, size_bytes=1000))
    assert table.empty
    assert pooled.empty


def test_one_block_has_a_ratio_and_no_interval() -> None:
    logs = noise(np.random.default_rng(3), OF, 3)
    table, _ = stats.compare(run(OF, logs[:, :1]), run(OF, logs))
    assert np.isfinite(table["change_pct"]).all()
    assert table[["low_pct", "p_value"]].isna().all(axis=None)
    assert not table["established"].any()
