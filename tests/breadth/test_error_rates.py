"""How often intervals hold the truth and chance passes for an effect, in simulations of hundreds of runs."""

from dataclasses import replace

import numpy as np
import pytest
from support.synthetic_frames import blocks_alike, cases, noise, resembling, run, scattered, speed_history_of, white

from lab import stats
from lab.stats.change_points import best_split
from lab.stats.effect_ratios import adjust_by_gate
from lab.stats.intervals import t_means
from lab.stats.moderation import widen
from lab.stats.over_pairs import moderate_errors, pool


@pytest.mark.parametrize(("pairs", "blocks", "least"), [(3, 3, 94), (10, 3, 94), (10, 6, 94)])
def test_the_interval_over_pairs_holds_the_effect_as_often_as_it_says(pairs: int, blocks: int, least: float) -> None:
    """Without moderation only 90 % of intervals over 10 pairs of 3 blocks would: benchmarks/over_pairs.py."""
    chance = np.random.default_rng(pairs + blocks)
    for tau in (0.0, 1.0, 5.0):
        values = chance.normal(0, tau, (2000, pairs, 1)) + chance.normal(0, np.sqrt(blocks), (2000, pairs, blocks))
        errors = values.std(axis=2, ddof=1) / np.sqrt(blocks)
        pooled = pool(values.mean(axis=2), moderate_errors(errors, np.full((2000, pairs), blocks)))
        assert 100 * np.mean(np.abs(pooled.means.mean) <= pooled.means.half) >= least


@pytest.mark.parametrize("blocks", [3, 4, 12])
def test_noise_does_not_hide_a_drift_of_five_percent(blocks: int) -> None:
    """With 3 blocks, one of three trials is its case's median and deviates by 0, whatever the drift is."""
    of = cases(direction=["write", "read"], mtu=[1500, 9000], tcp_space=[1024 * size for size in range(1, 8)])
    logs, drifts = np.log(0.95) * np.linspace(0, 1, blocks), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        drifts.append(stats.drift(run(of, 4.6 + logs + rng.normal(0, 0.1, (len(of), blocks)))).over_run_pct[0])
    assert np.mean(drifts) == pytest.approx(-5, abs=1.2)  # four standard errors


def test_the_interval_of_a_drift_holds_it_in_95_percent_of_runs() -> None:
    of = cases(direction=["write", "read"], mtu=[1500, 9000])
    held = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        logs = np.log(0.95) * np.linspace(0, 1, 10) + rng.normal(0, 0.01, 10) + rng.normal(0, 0.03, (len(of), 10))
        logs[rng.random(logs.shape) < 0.05] = np.nan
        _, low, high = stats.drift(run(of, logs)).over_run_pct
        held.append(low <= -5 <= high)
    assert np.mean(held) > 0.9


def test_three_blocks_of_a_demo_tell_more_than_each_row_alone() -> None:
    """In 40 runs of 36 rows, about 95 % hold the truth; moderated intervals have at most two thirds of the width."""
    of = cases(protocol=["afp", "nfs", "smb"], tool=["cp", "rsync"], direction=["write", "read"], mtu=[1500, 9000])
    held, widths = [], []
    for seed in range(40):
        logs = noise(np.random.default_rng(seed), of.drop(columns="mtu"), 3)
        table = stats.effects(stats.grid(run(of, logs)), ["mtu", "tool"])
        below = table[(table["direction"] != "all")]
        held.append((below["moderated_low_pct"] <= 0) & (below["moderated_high_pct"] >= 0))
        width = below["moderated_high_pct"] - below["moderated_low_pct"]
        widths.append(width / (below["high_pct"] - below["low_pct"]))
    assert 0.92 < np.mean(held) < 0.98
    assert np.median(widths) < 0.67


def test_noise_is_rarely_established_though_plain_intervals_miss() -> None:
    tables = []
    for seed in range(40):
        of = cases(direction=["write", "read"], mtu=[1500, 9000], tcp_space=[1024 * size for size in range(1, 10)])
        tables.append(stats.effects(stats.grid(run(of, noise(np.random.default_rng(seed), of, 6)))))
    missed = np.mean([(table["p_value"] < 0.05).mean() for table in tables])
    wrong = np.mean([table["established"].any() for table in tables])
    assert 0.02 < missed < 0.09
    assert wrong < 0.15


def test_the_fastest_is_among_those_that_lead_in_at_least_95_of_100_tables() -> None:
    rng, of, within = np.random.default_rng(3), cases(protocol=["afp", "nfs", "smb"], mtu=[1500, 9000]), []
    true = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.03])[:, None]
    for blocks in (3, 4, 6):
        grid = stats.grid(run(of, np.zeros((len(of), blocks))))
        tables = [replace(grid, log_speed=noise(rng, of, blocks) + true) for _ in range(100)]
        within += [5 in group.tied for table in tables for group in stats.leaders(table)]
    assert len(within) == 300
    assert np.mean(within) >= 0.95


def test_the_family_wise_error_is_kept_where_some_hypotheses_are_false() -> None:
    """At most 5 % of 4000 tables with true and false rows have any wrong row (1 % chance of more than 5.8 %)."""
    rng = np.random.default_rng(2)
    comparison, true = np.repeat(np.arange(4), 4), np.tile([False, True, True, True], 4)
    true[12:] = True
    wrong = 0
    for _ in range(4000):
        p = np.where(true, rng.uniform(size=16), rng.uniform(size=16) * 1e-4)
        wrong += bool((true & (adjust_by_gate(p, comparison) <= 0.05)).any())
    assert 0.03 < wrong / 4000 < 0.058


@pytest.mark.parametrize("n", [10, 25])
def test_chance_is_called_a_step_in_at_most_five_of_a_hundred_series(n: int) -> None:
    p_values = [best_split(white(seed, n), np.ones(n)).p for seed in range(200)]
    assert np.mean(np.array(p_values) < 0.05) < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)


def test_points_that_resemble_the_one_before_are_seldom_called_a_step() -> None:
    p_values = np.array([best_split(resembling(seed, 30, 0.3), np.ones(30)).p for seed in range(100)])
    assert np.mean(p_values < 0.05) < 0.2


@pytest.mark.parametrize("count", [5, 12])
def test_the_interval_of_the_newest_run_holds_a_run_like_the_others(count: int) -> None:
    intervals = [speed_history_of(scattered(seed, count + 1)).newest for seed in range(150)]
    held = np.mean([low <= 0 <= high for _, low, high in intervals])
    assert held > 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / 150)


def test_most_intervals_hold_the_truth_where_plain_ones_do_not() -> None:
    held = np.zeros(2)
    for seed in range(60):
        values = blocks_alike(seed, 10, 20, 0.5)
        means = t_means(values), widen(values, t_means(values), np.zeros(10, dtype=np.intp))
        held += [(np.abs(mean.mean) <= mean.half).mean() / 60 for mean in means]
    assert held[0] < 0.82
    assert held[1] > 0.9
