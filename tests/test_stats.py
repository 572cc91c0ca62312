from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import SIZE, make_trials, trial, write_run

from lab import results, stats
from lab.results import Trial

speeds = st.floats(1, 1e4)


def frame(trials: Sequence[Trial], **run: Any) -> pd.DataFrame:
    with TemporaryDirectory() as directory:
        return results.load(write_run(Path(directory), trials, **run).path)


def timed(block: int, speed: float, **levels: Any) -> Trial:
    """A trial in ``block`` that moved at ``speed`` MB/s."""
    name = "-".join(map(str, [block, speed, *levels.values()]))
    return trial(trial_id=name, block=block, elapsed_s=SIZE / 1e6 / speed, **levels)


# The figures of the 2011 tables and the change that each pair really is. Printed beside them stood, in this order:
# 0.53 and 3.33 (in each other's row), 9.64 and 18.77 (again), -90.57 (fits nothing), and for SMB -24.0 and -28.89
# (against another baseline than the one beside it).
@pytest.mark.parametrize(
    ("baseline", "value", "change"),
    [
        (87.6, 90.5, 3.31),
        (80.7, 81.1, 0.50),
        (48.3, 57.37, 18.78),
        (58.36, 63.99, 9.65),
        (57.37, 25.02, -56.39),
        (63.99, 72.99, 14.06),
        (57.37, 36.71, -36.01),
        (63.99, 41.5, -35.15),
    ],
)
def test_percent_change_of_published_figures(baseline: float, value: float, change: float) -> None:
    assert stats.percent_change(baseline, value) == pytest.approx(change, abs=0.005)


@given(speeds, st.floats(-99, 1e4))
def test_percent_change_goes_round(baseline: float, change: float) -> None:
    assert stats.percent_change(baseline, baseline * (1 + change / 100)) == pytest.approx(change, abs=1e-9, rel=1e-9)


@given(speeds, speeds)
def test_percent_change_there_and_back_is_none(one: float, other: float) -> None:
    there, back = stats.percent_change(one, other), stats.percent_change(other, one)
    assert (1 + there / 100) * (1 + back / 100) == pytest.approx(1)


@pytest.mark.parametrize("baseline", [0.0, -1.0, math.nan])
def test_a_change_from_nothing_has_no_percentage(baseline: float) -> None:
    with pytest.raises(ValueError, match="no percentage"):
        stats.percent_change(baseline, 1)


@pytest.mark.parametrize("count", range(6, 13))
def test_interval_covers_at_least_95_percent_by_enumeration(count: int) -> None:
    """Every pattern of above and below a true median of 0 is equally likely, whatever the distances are."""
    covered = []
    for signs in itertools.product((-1, 1), repeat=count):
        low, high = stats.median_interval([sign * distance for distance, sign in enumerate(signs, 1)])
        covered.append(low <= 0 <= high)
    assert np.mean(covered) >= 0.95
    narrower = stats.interval_rank(count) + 1
    assert 2 * sum(math.comb(count, k) for k in range(narrower)) / 2**count > 0.05


@pytest.mark.parametrize("count", range(6))
def test_too_few_values_have_no_interval(count: int) -> None:
    assert np.isnan(stats.median_interval(range(count))).all()


@pytest.mark.parametrize(("count", "rank"), [(6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (50, 18), (100, 40)])
def test_ranks_are_those_of_printed_tables(count: int, rank: int) -> None:
    assert stats.interval_rank(count) == rank


@given(st.integers(101, 3000))
@settings(max_examples=20)
def test_ranks_of_many_values_are_exact_too(count: int) -> None:
    rank = stats.interval_rank(count)
    tail = sum(math.comb(count, k) for k in range(rank))
    assert 40 * tail <= 2**count < 40 * (tail + math.comb(count, rank))


@given(st.lists(speeds, min_size=6, max_size=40), st.randoms())
def test_interval_holds_the_median_in_any_order(values: list[float], random: Any) -> None:
    low, high = stats.median_interval(values)
    assert min(values) <= low <= np.median(values) <= high <= max(values)
    assert (low, high) == stats.median_interval(random.sample(values, len(values)))


def test_summary_has_a_row_a_cell_in_reading_order() -> None:
    table = stats.summary(frame(make_trials(blocks=2, combinations=[("smb", "cp"), ("afp", "cp")])))
    cells = table[list(stats.CELL)].to_numpy().tolist()
    assert cells[:2] == [["afp", "cp", "write", 1500, "default", "ram"], ["afp", "cp", "write", 1500, 65536, "ram"]]
    assert cells[4][2] == "read"
    assert len(cells) == 16
    assert "link" not in set(table["protocol"])
    assert table[["low_MB_per_s", "high_MB_per_s"]].isna().all(axis=None)  # two trials a cell give no interval


def test_summary_of_known_speeds() -> None:
    table = stats.summary(frame([timed(block, 100 + block, ceiling_bytes_per_s=200e6) for block in range(1, 8)]))
    row = table.iloc[0]
    assert (row["n"], row["n_void"], row["n_failed"]) == (7, 0, 0)
    found = row[["median_MB_per_s", "low_MB_per_s", "high_MB_per_s", "min_MB_per_s", "max_MB_per_s"]].tolist()
    assert found == pytest.approx([104, 101, 107, 101, 107])
    assert row["share_of_ceiling"] == pytest.approx(0.52)


@settings(max_examples=15)
@given(st.lists(speeds, min_size=1, max_size=7), st.lists(speeds, max_size=3), st.integers(0, 3))
def test_void_and_failed_trials_are_counted_and_never_averaged(good: list[float], void: list[float], lost: int) -> None:
    trials = [timed(block, speed) for block, speed in enumerate(good)]
    wrong = [timed(100 + block, speed, status="void") for block, speed in enumerate(void)]
    wrong += [
        trial(trial_id=f"lost{block}", block=200 + block, elapsed_s=None, status="failed") for block in range(lost)
    ]
    before, after = (stats.summary(frame(some)).iloc[0] for some in (trials, trials + wrong))
    assert (after["n"], after["n_void"], after["n_failed"]) == (len(good), len(void), lost)
    pd.testing.assert_series_equal(before.drop(["n_void", "n_failed"]), after.drop(["n_void", "n_failed"]))


def test_a_cell_without_a_good_trial_keeps_its_row() -> None:
    row = stats.summary(frame([trial(status="failed", elapsed_s=None)])).iloc[0]
    assert (row["n"], row["n_failed"]) == (0, 1)
    assert row[list(stats.SPEEDS)].isna().all()


def test_ceilings_are_the_link_alone() -> None:
    table = stats.ceilings(frame([timed(1, 118, protocol="link", tool="iperf3"), timed(1, 100)]))
    assert table["median_MB_per_s"].tolist() == pytest.approx([118])
    assert list(table.columns[:3]) == ["direction", "mtu", "tcp_space"]


@pytest.mark.parametrize("some", [[], [trial(protocol="link", tool="iperf3")], [trial(status="void")]])
def test_nothing_to_compare_gives_empty_tables_with_their_columns(some: list[Trial]) -> None:
    trials = frame(some)
    assert stats.all_effects(trials).empty
    assert stats.paired_effects(trials, "mtu", 1500, 9000).columns.tolist() == [*stats.POOLED, *stats.EFFECT]
    assert len(stats.summary(trials)) <= 1
    assert stats.summary(trials)["n"].sum() == 0
    assert stats.drift(trials).index.isin(trials.index).all()


def test_effects_pair_within_a_block_at_equal_other_levels() -> None:
    trials = frame(
        [
            timed(1, 100, mtu=1500), timed(1, 110, mtu=9000),
            timed(2, 50, mtu=1500), timed(2, 60, mtu=9000),
            timed(3, 70, mtu=1500),  # no partner in its block
            timed(4, 70, mtu=9000, tcp_space=65536), timed(4, 10, mtu=1500),  # no partner at its TCP buffer
            timed(5, 99, mtu=1500), timed(5, 1, mtu=9000, status="void"),
            timed(6, 99, mtu=1500, protocol="link"), timed(6, 1, mtu=9000, protocol="link"),
        ]
    )  # fmt: skip
    row = stats.paired_effects(trials, "mtu", 1500, 9000).iloc[0]
    assert row["n_pairs"] == 2
    assert row["median_change_pct"] == pytest.approx(15)
    assert row["geometric_change_pct"] == pytest.approx(100 * (math.sqrt(1.1 * 1.2) - 1))
    assert np.isnan(row["low_pct"])
    assert np.isnan(row["high_pct"])


def test_a_repeated_case_counts_once_in_its_block() -> None:
    again = [timed(1, speed, mtu=9000) for speed in (104, 110, 190)]
    pairs = stats.pairs(frame([timed(1, 100, mtu=1500), *again]), "mtu", 1500, 9000)
    assert pairs["change_pct"].tolist() == pytest.approx([10])


def test_the_interval_of_an_effect_is_that_of_the_sign_test() -> None:
    trials = [timed(block, 100, mtu=1500) for block in range(9)]
    trials += [timed(block, 101.0 + block, mtu=9000) for block in range(9)]
    row = stats.paired_effects(frame(trials), "mtu", 1500, 9000).iloc[0]
    assert row[["low_pct", "median_change_pct", "high_pct"]].tolist() == pytest.approx([2, 5, 8])


@settings(max_examples=15)
@given(st.lists(st.tuples(speeds, st.floats(0.5, 2), st.floats(0.1, 10)), min_size=1, max_size=7))
def test_drift_between_blocks_does_not_reach_effects_and_turning_inverts_them(
    blocks: list[tuple[float, float, float]],
) -> None:
    still, drifting = (
        frame([
            timed(block, speed * (drift if drifts else 1) * (ratio if mtu == 9000 else 1), mtu=mtu)
            for block, (speed, ratio, drift) in enumerate(blocks)
            for mtu in (1500, 9000)
        ])
        for drifts in (False, True)
    )  # fmt: skip
    numbers = ["median_change_pct", "low_pct", "high_pct", "geometric_change_pct"]
    one, other = (stats.paired_effects(trials, "mtu", 1500, 9000)[numbers] for trials in (still, drifting))
    pd.testing.assert_frame_equal(one, other, rtol=1e-6, atol=1e-6)
    back = stats.paired_effects(still, "mtu", 9000, 1500)["geometric_change_pct"]
    product = (1 + one["geometric_change_pct"] / 100) * (1 + back / 100)
    assert product.tolist() == pytest.approx([1])


def test_any_factor_can_be_compared_and_two_runs_too() -> None:
    old, new = (frame([timed(block, speed * block) for block in (1, 2)]) for speed in (100, 125))
    both = pd.concat([old.assign(run="old"), new.assign(run="new")])
    assert stats.paired_effects(both, "run", "old", "new")["median_change_pct"].tolist() == pytest.approx([25])
    tools = frame([timed(1, 100), timed(1, 80, tool="rsync")])
    effect = stats.paired_effects(tools, "tool", "cp", "rsync")
    assert effect[["protocol", "direction", "n_pairs"]].to_numpy().tolist() == [["afp", "write", 1]]
    assert effect["median_change_pct"].tolist() == pytest.approx([-20])


def test_contrasts_start_from_the_default_or_the_smallest() -> None:
    trials = frame([timed(1, 100, mtu=mtu, tcp_space=space) for mtu in (9000, 1500) for space in (65536, "default")])
    assert stats.contrasts(trials) == [("mtu", 1500, 9000), ("tcp_space", "default", 65536)]
    assert stats.all_effects(trials)["factor"].tolist() == ["mtu", "tcp_space"]


def test_drift_is_against_the_median_of_the_same_case() -> None:
    trials = frame([*(timed(block, 100 + block, case_id="a") for block in (1, 2, 3)), timed(1, 5, case_id="alone")])
    assert stats.drift(trials).to_dict() == pytest.approx({0: -100 / 102, 1: 0, 2: 100 / 102})


@pytest.mark.parametrize(
    ("size", "label"),
    [("default", "default"), (524288, "512 KiB"), (4 << 20, "4 MiB"), (1 << 30, "1 GiB"), (1500, "1500 B")],
)
def test_sizes_are_written_as_a_person_writes_them(size: int | str, label: str) -> None:
    assert stats.size_label(size) == label


@pytest.mark.parametrize(
    ("title", "instance", "where"),
    [
        ("attic", None, "attic"),
        ("", None, ""),
        ("", "demo", "local lab"),
        ("box, 1 Gbit/s", "demo", "local lab, box, 1 Gbit/s"),
        ("Local lab on box", "demo", "Local lab on box"),
    ],
)
def test_provenance_says_local_lab_whenever_it_was_that(title: str, instance: str | None, where: str) -> None:
    said, facts = stats.provenance(frame([trial(), trial(trial_id="b", status="void")], title=title, instance=instance))
    assert said == where
    assert facts == (
        "synthetic-client → synthetic-server · 2030-01-02 · file of 512 MiB · n = 1 ok, 1 void, 0 failed · blocks: 1"
    )
