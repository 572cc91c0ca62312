"""Runs over a first one, computed again by scipy and by hand; facts that differ between runs; and cases that lead."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp, ttest_ind
from statsmodels.stats.multitest import multipletests
from support.runs_to_compare import write_history
from support.synthetic_frames import at, cases, noise, run
from support.synthetic_runs import RUN

from lab import stats
from lab.results.saved_runs import read_saved_runs
from lab.stats.run_differences import BOTH, ChangedFact, DifferingFact, busiest, changed_facts, differing_between
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
    names = ["n_a", "n_b", "low_pct", "high_pct", "p_value", "degrees_of_freedom", "ratio_low", "ratio_high", "ratio"]
    assert len(versus.cases) == 4
    for number, row in enumerate(versus.cases[names].to_numpy(float)):
        expected = ttest_ind(b[number], a[number], equal_var=False)
        ends, ratio = np.exp(expected.confidence_interval(0.95)), np.exp(b[number].mean() - a[number].mean())
        assert row == pytest.approx([5, 8, *(100 * (ends - 1)), expected.pvalue, expected.df, *ends, ratio])
    together = ttest_ind(b[2:].mean(axis=0), a[2:].mean(axis=0), equal_var=False)
    assert versus.pooled["protocol"].tolist() == ["afp", "smb"]
    assert versus.pooled["p_value"].iloc[1] == pytest.approx(together.pvalue)


def test_only_common_cases_are_compared_and_pooled_in_blocks_that_have_them_all() -> None:
    rng = np.random.default_rng(1)
    more = cases(protocol=["afp", "smb", "nfs"], mtu=[1500, 4000, 9000])
    a, b = noise(rng, FEW, 4), noise(rng, more, 3)
    a[0, 0] = np.nan
    versus = over(run(FEW, a), run(more, b))
    rows = versus.cases[["protocol", "mtu", "n_a"]].to_numpy().tolist()
    assert rows == [["afp", 1500, 3], ["afp", 9000, 4], ["smb", 1500, 4], ["smb", 9000, 4]]
    assert versus.pooled[["n_a", "n_b"]].to_numpy().tolist() == [[3, 3], [4, 3]]


def test_one_block_has_a_ratio_and_no_interval_and_other_sizes_are_other_cases() -> None:
    logs = noise(np.random.default_rng(3), FEW, 3)
    table = over(run(FEW, logs[:, :1]), run(FEW, logs)).cases
    assert np.isfinite(table["change_pct"]).all()
    assert table[["low_pct", "p_value"]].isna().all(axis=None)
    assert not table["established"].any()
    versus = over(run(FEW, logs), run(FEW, logs, size_bytes=1000))
    assert (len(versus.cases), len(versus.pooled)) == (0, 0)


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
    assert (versus.overall["n_b"].tolist(), versus.n_cases) == ([6], len(OF))
    assert versus.overall["ratio"].iloc[0] == pytest.approx(whole, rel=0.01)
    base, other = frames(4, 0.0)
    base.loc[base["case_id"] == base["case_id"].iloc[0], "MB_per_s"] /= 1000
    lost = other["case_id"] == other["case_id"].iloc[0]  # always failed in one run: it is in neither mean
    versus = over(base, other.assign(MB_per_s=other["MB_per_s"].mask(lost), status=np.where(lost, "failed", "ok")))
    assert (versus.n_cases, versus.overall["ratio"].iloc[0]) == (len(OF) - 1, pytest.approx(1, abs=0.2))


def with_link(frame: pd.DataFrame, speed: float, blocks: int = 6) -> pd.DataFrame:
    """The run, and a ceiling of its link in each block."""
    rng = np.random.default_rng(int(speed))
    link = run(LINK, np.log(speed) + rng.normal(0, 0.01, (len(LINK), blocks)), protocol="link", tool="iperf3")
    link["trial_id"] = "l" + link["trial_id"]
    return pd.concat([frame, link], ignore_index=True)


def test_the_link_is_compared_by_direction() -> None:
    runs = [with_link(frame, speed) for frame, speed in zip(frames(6, 0.0), (100, 70), strict=True)]
    versus = over(*runs)
    assert sorted(versus.link["direction"]) == ["read", "write"]
    assert versus.link["established"].all()
    for row in versus.link.to_dict("records"):
        base, other = (logs_of(at(frame, protocol="link", direction=row["direction"])).mean() for frame in runs)
        p = ttest_ind(other, base, equal_var=False).pvalue
        assert [row["ratio"], row["p_value"]] == pytest.approx([np.exp(other.mean() - base.mean()), p])
    assert len(versus.cases) == len(OF)  # the link is no case


def test_nothing_in_common_has_no_row() -> None:
    base, other = frames(7, 0.0)
    assert over(with_link(base, 100), other).link.empty
    versus = over(base, other.assign(status="void"))
    assert (len(versus.overall), versus.n_cases) == (0, 0)


@pytest.mark.parametrize("percent", [0, 10, 25])
def test_slower_by_more_is_a_test_against_that_ratio(percent: float) -> None:
    runs, plain = frames(8, -0.3), []
    pooled = over(*runs).pooled
    (adjusted,) = slower_p([pooled], percent)
    for protocol, direction in zip(pooled["protocol"], pooled["direction"], strict=True):
        base, other = (logs_of(at(frame, protocol=protocol, direction=direction)).mean() for frame in runs)
        test = ttest_ind(other, base + np.log(1 - percent / 100), equal_var=False)
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


def described(**server: Any) -> dict[str, Any]:
    return RUN | {"hosts": RUN["hosts"] | {"server": RUN["hosts"]["server"] | server}}


def trials(effective: Any = None, of: Any = FEW) -> Any:
    """A run whose trials had this in effect, by protocol."""
    frame = run(of, noise(np.random.default_rng(0), of, 2))
    return frame.assign(effective=[(effective or {}).get(protocol, {}) for protocol in frame["protocol"]])


def test_facts_of_hosts_are_named_by_role_or_once_for_both_and_so_are_title_and_version() -> None:
    both = RUN | {"hosts": {side: facts | {"os": "New OS"} for side, facts in RUN["hosts"].items()}}
    facts = differing_between([(RUN, trials()), (both, trials()), (described(kernel="9"), trials())])
    assert facts == [
        DifferingFact(f"os {BOTH}", ("Invented OS 1.0", "New OS", "Invented OS 1.0")),
        DifferingFact("server kernel", ("0.0-synthetic", "0.0-synthetic", "9")),
    ]
    assert [fact.pattern for fact in facts] == [(0, 1, 0), (0, 0, 1)]
    facts = differing_between([(RUN, trials()), (RUN | {"title": "at 1 ms", "code_version": "2"}, trials())])
    assert [fact.name for fact in facts] == ["title", "lab"]


def test_what_only_identifies_a_run_is_no_difference_and_the_busiest_block_counts() -> None:
    assert busiest(RUN) == 0
    assert busiest(RUN | {"load": [{"block": 1, "client": 0.1}, {"block": 2, "client": 0.2, "server": 1.5}]}) == 1.5
    again = RUN | {"started_at": "2031-01-01T00:00:00+00:00", "instance": "another", "id": "2", "seed": 9}
    again |= {"hosts": {side: facts | {"available_bytes": 7} for side, facts in RUN["hosts"].items()}}
    assert differing_between([(RUN, trials()), (again, trials())]) == []


def test_what_was_in_effect_is_named_by_protocol_unless_several_say_the_same() -> None:
    one = trials({"smb": {"dialect": "3.0", "mount": "kernel"}, "afp": {"mount": "kernel"}})
    other = trials({"smb": {"dialect": "3.1.1", "mount": "gvfs"}, "afp": {"mount": "gvfs"}})
    mount = DifferingFact("mount", ("kernel", "gvfs"))
    assert differing_between([(RUN, one), (RUN, other)]) == [mount, DifferingFact("SMB dialect", ("3.0", "3.1.1"))]
    more = cases(protocol=["afp", "smb", "nfs"], mtu=[1500, 9000])  # cases that only one run has make no difference
    assert differing_between([(RUN, trials()), (RUN, trials({"nfs": {"dialect": "NFSv4"}}, more))]) == []


def facts_of(results: Path, at: int) -> list[ChangedFact]:
    runs = read_saved_runs(results, "nas").runs
    return changed_facts(runs[:at], runs[at:], {"protocol": "smb", "tool": "cp", "direction": "write"})


def hosts(**client: Any) -> dict[str, Any]:
    return {"hosts": RUN["hosts"] | {"client": RUN["hosts"]["client"] | client}}


def test_what_changed_then_and_only_then_comes_first(tmp_path: Path) -> None:
    kernels, versions = ["6.1"] * 4 + ["6.12"] * 4, ["3.4", "3.2"] * 4
    runs = [hosts(kernel=kernel, tools={"rsync": rsync}) for kernel, rsync in zip(kernels, versions, strict=True)]
    write_history(tmp_path, [1.0] * 8, run_of=runs.__getitem__)
    kernel = ChangedFact("client kernel", "6.1", "6.12", True)
    assert facts_of(tmp_path, 4) == [kernel, ChangedFact("client tools rsync", "3.2", "3.4", False)]


def test_the_speed_of_the_link_is_told_in_bits(tmp_path: Path) -> None:
    speeds = [10**9] * 3 + [10**8] * 3
    links = [hosts(link_bits_per_s=speed, available_bytes=number) for number, speed in enumerate(speeds)]
    runs = [link | {"link": {"bits_per_s": speed}} for link, speed in zip(links, speeds, strict=True)]
    write_history(tmp_path, [1.0] * 6, run_of=runs.__getitem__)
    names = {fact.name: (fact.before, fact.after) for fact in facts_of(tmp_path, 3)}
    assert names == dict.fromkeys(("link", "client link"), ("1000 Mbit/s", "100 Mbit/s"))


def test_a_change_of_what_was_in_effect_in_the_trials_counts_too(tmp_path: Path) -> None:
    folders = write_history(tmp_path, [1.0] * 4)
    for folder in folders[2:]:
        text = folder.trials_path.read_text().replace('"mount": "gvfs"', '"mount": "kernel", "dialect": "3.1.1"')
        folder.trials_path.write_text(text)
    mount = ChangedFact("mount", "gvfs", "kernel", True)
    assert facts_of(tmp_path, 2) == [mount, ChangedFact("dialect", "–", "3.1.1", True)]


SPEEDS = cases(protocol=["afp", "nfs", "smb"], mtu=[1500, 9000])
FASTER = np.array([0.0, 0.0, 0.0, 0.0, 0.5, 0.6])[:, None]  # SMB, and still more at MTU 9000


def leaders(logs: np.ndarray[Any, Any], of: pd.DataFrame = SPEEDS) -> stats.Leaders:
    (group,) = stats.leaders(stats.grid(run(of, logs)))
    return group


def test_the_one_that_is_faster_in_every_block_leads_alone_and_alike_ones_are_not_told_apart() -> None:
    logs = noise(np.random.default_rng(1), SPEEDS, 12) + FASTER
    group = leaders(logs)
    assert group.cases[0] == np.argmax(logs.mean(axis=1)) == 5
    assert (group.tied.tolist(), group.blocks) == ([5], 12)
    logs = noise(np.random.default_rng(2), SPEEDS, 6)
    logs[4:] += 0.5
    assert sorted(leaders(logs).tied) == [4, 5]


def test_blocks_that_differ_do_not_hide_who_leads() -> None:
    """The medians overlap, because blocks differ by far more than cases; within blocks they never do."""
    of = cases(protocol=["afp", "nfs"])
    logs = np.array([[0.0], [0.1]]) + np.linspace(0, 3, 8) + np.random.default_rng(1).normal(0, 0.01, (2, 8))
    assert leaders(logs, of).tied.tolist() == [1]


def test_too_few_blocks_and_equal_numbers_prove_nothing() -> None:
    for blocks in (1, 2):
        group = leaders(noise(np.random.default_rng(1), SPEEDS, blocks) + FASTER)
        assert (sorted(group.tied), group.blocks) == (list(range(6)), blocks)
    assert sorted(leaders(np.zeros((6, 4)) + FASTER).tied) == list(range(6))


def test_a_case_that_was_hardly_measured_is_not_told_apart_and_one_never_measured_is_none() -> None:
    logs = noise(np.random.default_rng(1), SPEEDS, 8) + FASTER
    logs[0, 1:] = logs[1] = np.nan
    group = leaders(logs)
    assert (0 in group.tied, 1 in group.cases) == (True, False)
    of = cases(protocol=["afp", "nfs"])
    logs = np.array([[0.2], [0.0]]) + np.repeat([0, 1], 4) + np.random.default_rng(1).normal(0, 0.01, (2, 8))
    logs[1, :4] = np.nan  # measured in the good blocks only, which does not make it lead
    assert leaders(logs, of).cases[0] == 0


def test_directions_are_not_compared_with_one_another() -> None:
    of = cases(direction=["write", "read"], mtu=[1500, 9000])
    logs = noise(np.random.default_rng(1), of, 8) + np.array([[0.0], [0.3], [2.0], [2.3]])
    groups = stats.leaders(stats.grid(run(of, logs)))
    assert [(group.at["direction"], group.tied.tolist()) for group in groups] == [("write", [1]), ("read", [3])]
