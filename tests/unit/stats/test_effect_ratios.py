"""Effects and interactions of whole grids, computed again by statsmodels, and p-values adjusted by gates."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW
from support.synthetic_frames import GRID, SEEDS, at, cases, noise, one, pct, run

from lab import stats
from lab.report.prose import chance
from lab.stats import linear_model
from lab.stats.effect_ratios import adjust_by_gate
from lab.stats.intervals import holm

INTERVAL = ["change_pct", "low_pct", "high_pct"]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_effect_is_the_t_interval_of_the_blocks_own_numbers(seed: int) -> None:
    logs = noise(np.random.default_rng(seed), GRID, 7)
    table = stats.effects(stats.grid(run(GRID, logs)))
    row = one(table, protocol="smb", tool="rsync", direction="read", factor="mtu")
    here = at(GRID, protocol="smb", tool="rsync", direction="read")
    jumbo, plain = (logs[at(here, mtu=mtu).index] for mtu in (9000, 1500))
    ratios = (jumbo - plain).mean(axis=0)
    by_block = DescrStatsW(ratios)
    assert (row["n_blocks"], row["n_pairs"], row["method"]) == (7, 14, "pairs")
    expected = pct(np.array([by_block.mean, *by_block.tconfint_mean(), np.median(ratios)]))
    assert row[[*INTERVAL, "median_change_pct"]].tolist() == pytest.approx(expected)
    assert row["p_value"] == pytest.approx(by_block.ttest_mean(0)[1])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_effect_of_a_whole_plot_is_that_of_the_split_plot_anova(seed: int) -> None:
    """With Error(block/mtu) and two levels, F of MTU is t squared, with blocks − 1 degrees of freedom."""
    of = cases(mtu=[1500, 9000], tcp_space=["default", 65536, 131072])
    trials = run(of, noise(np.random.default_rng(seed), of, 6))
    table = stats.effects(stats.grid(trials))
    logs = trials.assign(log=np.log(trials["MB_per_s"]))
    anova = AnovaRM(logs, "log", "block", within=["mtu"], aggregate_func="mean").fit().anova_table.loc["mtu"]
    assert anova["Den DF"] == 5
    assert one(table, factor="mtu")["p_value"] == pytest.approx(anova["Pr > F"])


def test_more_pairs_in_a_block_make_no_interval_narrower() -> None:
    """What hits all trials at one MTU of a block is one disturbance, however many trials share it."""
    shifts = np.random.default_rng(1).normal(0, 0.05, 8)
    widths = []
    for count in (1, 30):
        of = cases(mtu=[1500, 9000], tcp_space=[1024 * size for size in range(1, count + 1)])
        logs = np.where((of["mtu"] == 9000).to_numpy()[:, None], shifts, 0.0)
        row = one(stats.effects(stats.grid(run(of, logs)), ["mtu"]), factor="mtu")
        widths.append(row["high_pct"] - row["low_pct"])
    assert widths[0] == pytest.approx(widths[1])


def test_neither_drift_between_blocks_nor_anchors_reach_effects() -> None:
    logs = noise(np.random.default_rng(2), GRID, 5)
    trials, drifting = (run(GRID, logs + slope * np.arange(5)) for slope in (0, 0.3))
    still = stats.effects(stats.grid(trials))
    pd.testing.assert_frame_equal(still, stats.effects(stats.grid(drifting)))
    anchored = pd.concat([trials, trials[:3].assign(anchor=True, MB_per_s=1.0, mtu=4000)])
    pd.testing.assert_frame_equal(still, stats.effects(stats.grid(anchored)))


def test_pairs_agree_in_all_else_and_lack_what_is_void() -> None:
    of = cases(mtu=[1500, 9000], tcp_space=["default", 65536])
    logs = np.log(np.array([[100.0, 100, 100], [50, 50, 50], [110, 120, 130], [60, 60, 60]]))
    logs[1, 0] = logs[3, 2] = np.nan
    row = one(stats.effects(stats.grid(run(of, logs)), ["mtu"]), factor="mtu")
    assert (row["n_blocks"], row["n_pairs"]) == (3, 4)
    assert row["ratio"] == pytest.approx(np.exp(np.mean(np.log([1.1, 1.2, 1.3]))))


def test_below_three_blocks_there_is_no_interval_and_without_spread_no_p_value() -> None:
    logs = noise(np.random.default_rng(4), GRID, 3)
    one_block, two, three = (stats.effects(stats.grid(run(GRID, logs[:, :count]))) for count in (1, 2, 3))
    numbers = ["low_pct", "high_pct", "moderated_low_pct", "moderated_high_pct", "p_value", "moderated_p", "p_adjusted"]
    assert np.isfinite(one_block["change_pct"]).all()
    assert one_block[[*numbers, "median_low_pct"]].isna().all(axis=None)
    assert not one_block["established"].any()
    assert two[numbers].isna().all(axis=None)
    assert three[numbers].notna().all(axis=None)
    assert "at least 3 are needed" in chance(two)
    assert "With 3 blocks of this run's noise a change of about ± " in chance(three)
    of = cases(mtu=[1500, 9000])
    same = stats.effects(stats.grid(run(of, np.tile([[4.6], [4.7]], 5))))  # does not show how far chance would move it
    assert same["change_pct"].tolist() == pytest.approx([pct(0.1)])
    assert same["p_value"].isna().all()
    assert not same["established"].any()


def test_the_overall_row_comes_first_and_is_the_mean_of_a_whole_block() -> None:
    logs = noise(np.random.default_rng(9), GRID, 4)
    table = stats.effects(stats.grid(run(GRID, logs)), ["mtu", "tcp_space"])
    assert table["n_pairs"].tolist() == [64, *[8] * 8] * 2
    by_block = DescrStatsW((logs[GRID["mtu"] == 9000] - logs[GRID["mtu"] == 1500]).mean(axis=0))
    row = table.iloc[0]
    assert row[["factor", "protocol", "tool", "direction"]].tolist() == ["mtu", "all", "all", "all"]
    assert row[INTERVAL].tolist() == pytest.approx(pct(np.array([by_block.mean, *by_block.tconfint_mean()])))
    assert (row["moderated_low_pct"], row["moderated_high_pct"]) == (row["low_pct"], row["high_pct"])
    below = at(table, factor="mtu").iloc[1:]
    assert (below["p_adjusted"] >= row["p_adjusted"]).all()
    moderated = below["moderated_high_pct"] - below["moderated_low_pct"]
    assert moderated.median() < (below["high_pct"] - below["low_pct"]).median()


def test_a_factor_with_nothing_to_split_has_its_row_once() -> None:
    of = cases(mtu=[1500, 9000], tcp_space=["default", 65536])
    speeds = stats.grid(run(of, noise(np.random.default_rng(10), of, 3)))
    rows = stats.effects(speeds)[["factor", "protocol", "direction"]].to_numpy().tolist()
    assert rows == [["mtu", "all", "all"], ["tcp_space", "all", "all"]]
    assert len(stats.interactions(speeds)) == 1
    table = stats.interactions(stats.grid(run(GRID, noise(np.random.default_rng(8), GRID, 2))), [("tool", "mtu")])
    at_each = [[protocol, "all", direction] for protocol in ("afp", "smb") for direction in ("write", "read")]
    rows = table[["protocol", "tool", "direction"]].drop_duplicates().to_numpy().tolist()
    assert rows == [["all", "all", "all"], *at_each]  # any two factors can be asked for


def test_a_lost_pair_does_not_move_the_overall_row_by_what_pairs_differ() -> None:
    of = cases(protocol=["afp", "smb", "nfs"], mtu=[1500, 9000])
    logs = np.tile(np.array([0.0, 0.9, 0.0, 0.1, 0.0, 0.2])[:, None], 4)
    logs += np.random.default_rng(11).normal(0, 1e-3, logs.shape)
    logs[1, 2] = np.nan
    row = stats.effects(stats.grid(run(of, logs)), ["mtu"]).iloc[0]
    assert (row["n_blocks"], row["n_pairs"]) == (4, 11)
    assert row["change_pct"] == pytest.approx(pct(0.4), abs=0.3)
    assert row["high_pct"] - row["low_pct"] < 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_star_needs_the_plain_interval_too(seed: int) -> None:
    logs = noise(np.random.default_rng(seed), GRID, 3) + 0.07 * (GRID["tcp_space"] == 65536).to_numpy()[:, None]
    table = stats.effects(stats.grid(run(GRID, logs)))
    without_0 = (table["low_pct"] > 0) | (table["high_pct"] < 0)
    assert table["established"].tolist() == (without_0 & (table["p_adjusted"] < 0.05)).tolist()


def test_six_blocks_have_the_distribution_free_interval_too_and_a_repeated_case_counts_once() -> None:
    of = cases(mtu=[1500, 9000])
    table = stats.effects(stats.grid(run(of, np.log(np.array([[100.0] * 6, [101.0, 102, 103, 104, 105, 106]])))))
    assert table.iloc[0][["median_low_pct", "median_high_pct"]].tolist() == pytest.approx([1, 6])
    trials = run(of, np.log(np.array([[100.0, 100.0], [104.0, 104.0]])))
    again = pd.concat([trials, trials[3:].assign(MB_per_s=110.0), trials[3:].assign(MB_per_s=190.0)])
    np.testing.assert_allclose(np.exp(stats.grid(again).log_speed), [[100, 100], [104, 110]])


def test_every_factor_but_the_direction_is_compared_with_its_first_level() -> None:
    of = cases(
        protocol=["smb", "afp"], direction=["read", "write"], tcp_space=[65536, "default"], store=["disk", "ram"],
        server_sync=["always", "default"],
    )  # fmt: skip
    table = stats.effects(stats.grid(run(of, noise(np.random.default_rng(5), of, 2))))
    compared = table.drop_duplicates(["factor", "level"]).set_index("factor")[["baseline", "level"]].T.to_dict("list")
    assert list(compared.items()) == [
        ("protocol", ["afp", "smb"]), ("tcp_space", ["default", 65536]), ("store", ["ram", "disk"]),
        ("server_sync", ["default", "always"]),
    ]  # fmt: skip
    assert set(at(table, factor="protocol")["protocol"]) == {"all"}
    assert at(table, factor="store")["direction"].tolist() == ["all", "write", "read", "write", "read"]


@pytest.mark.parametrize("seed", SEEDS)
def test_interactions_are_ratios_of_ratios_by_block(seed: int) -> None:
    logs = noise(np.random.default_rng(seed), GRID, 6)
    table = stats.interactions(stats.grid(run(GRID, logs)))
    row = one(table, protocol="afp", tool="cp", direction="write")
    plain, space, jumbo, both = logs[at(GRID, protocol="afp", tool="cp", direction="write").index]
    assert (row["factor"], row["with_factor"], row["n_blocks"], row["n_pairs"]) == ("mtu", "tcp_space", 6, 6)
    parts = {"alone": jumbo - plain, "on_top": both - space, "both": both - plain}
    for part, values in (parts | {"interaction": both - space - jumbo + plain}).items():
        expected = DescrStatsW(values)
        ends = pct(np.array([expected.mean, expected.tconfint_mean()[0]]))
        assert row[[f"{part}_pct", f"{part}_low_pct"]].tolist() == pytest.approx(ends)
    assert row["p_value"] == pytest.approx(expected.ttest_mean(0)[1])


def test_very_many_levels_with_holes_have_no_shares_and_no_model_which_would_take_long() -> None:
    of = cases(mtu=range(1000, 1033), placebo=[f"p{number}" for number in range(33)])
    for some, is_told in ((of[: 30 * 33], True), (of.sample(900, random_state=1), False)):
        shares = stats.shares(stats.grid(run(some, noise(np.random.default_rng(1), some, 1))))
        assert shares.table.empty != is_told
    of = cases(mtu=range(1000, 1020), placebo=[f"p{number}" for number in range(20)])
    rng = np.random.default_rng(1)
    logs = noise(rng, of, 60)
    logs[1:][rng.random((len(of) - 1, 60)) < 0.7] = np.nan
    for blocks, is_told in ((2, True), (60, False)):
        speeds = stats.grid(run(of, logs[:, :blocks]))
        row = linear_model.mean_row(speeds, {"mtu": 0, "placebo": 0})
        assert np.isfinite(linear_model.model_values(speeds, row[None, :])).all() == is_told


Rows = list[list[float]]


def rejected_at(level: float, tree: Rows) -> set[tuple[int, int]]:
    """The inheritance procedure as it is described, step by step: shares of the level are handed on until all rest."""
    rejected: set[tuple[int, int]] = set()
    while True:
        remaining = [[row for row in range(len(of)) if (n, row) not in rejected] for n, of in enumerate(tree)]
        new, open_trees = set(), sum(map(bool, remaining))
        for number, rows in enumerate(remaining):
            tested = rows[:1] if 0 in rows else rows
            new |= {(number, row) for row in tested if tree[number][row] <= level / open_trees / len(tested)}
        if not new:
            return rejected
        rejected |= new


P = st.sampled_from([1e-4, 5e-4, 1e-3, 4e-3, 8e-3, 0.012, 0.02, 0.03, 0.3])


@given(st.lists(st.lists(P, min_size=1, max_size=4), min_size=1, max_size=5), st.floats(1e-3, 0.2))
def test_a_row_is_below_the_level_where_the_procedure_rejects_it(tree: Rows, level: float) -> None:
    names = [(number, row) for number, rows in enumerate(tree) for row in range(len(rows))]
    p = np.array([tree[number][row] for number, row in names])
    adjusted = adjust_by_gate(p, np.array([number for number, _ in names]))
    if not np.isclose(adjusted, level, rtol=1e-9).any():
        assert {name for name, value in zip(names, adjusted, strict=True) if value <= level} == rejected_at(level, tree)


@pytest.mark.parametrize("seed", [1, 6])
def test_overall_rows_alone_and_holm_are_those_of_statsmodels(seed: int) -> None:
    p = np.random.default_rng(seed).uniform(0, 0.05, 20)
    for adjusted in (holm(p), adjust_by_gate(p, np.arange(20))):
        np.testing.assert_allclose(adjusted, multipletests(p, method="holm")[1])
    np.testing.assert_allclose(holm([0.01, np.nan, 0.03]), [0.02, np.nan, 0.03])


def test_no_row_is_established_before_its_overall_row_and_rows_without_a_test_count_for_nothing() -> None:
    adjusted = adjust_by_gate(np.array([0.04, 1e-9, 0.2, 1e-9]), np.array([0, 0, 1, 1]))
    assert adjusted == pytest.approx([0.08, 0.08, 0.2, 0.2])  # the first comparison is done before: its level goes on
    nan = np.nan
    adjusted = adjust_by_gate(np.array([nan, 0.01, 0.02, nan, 0.03]), np.array([0, 0, 1, 1, 1]))
    assert adjusted == pytest.approx([nan, nan, 0.02, nan, 0.03], nan_ok=True)
    assert adjust_by_gate(np.array([]), np.array([], dtype=int)).size == 0
