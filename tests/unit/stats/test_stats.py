import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.synthetic_runs import SIZE, make_trials, trial, write_run

from lab import stats
from lab.results import run_folder
from lab.results.run_folder import Trial

speeds = st.floats(1, 1e4)


def frame(trials: Sequence[Trial], **run: Any) -> pd.DataFrame:
    with TemporaryDirectory() as directory:
        return run_folder.load(write_run(Path(directory), trials, **run).path)


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
@at_most(20)
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
    cells = table[["protocol", "tool", "direction", "mtu", "tcp_space", "store"]].to_numpy().tolist()
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


@at_most(15)
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


def test_anchors_are_in_no_summary() -> None:
    trials = frame([timed(1, 100), timed(1, 50, anchor=True), timed(1, 60, anchor=True, status="void")])
    row = stats.summary(trials).iloc[0]
    assert (row["n"], row["n_void"], row["median_MB_per_s"]) == (1, 0, pytest.approx(100))


def test_settings_that_differ_in_an_option_are_not_pooled() -> None:
    table = stats.summary(frame([timed(1, 100), timed(1, 50, options={"server_sync": "always"})]))
    assert table["server_sync"].tolist() == ["default", "always"]
    assert table["n"].tolist() == [1, 1]


def test_words_may_be_categories() -> None:
    plain = frame(make_trials(blocks=2, combinations=[("smb", "cp"), ("afp", "cp")]))
    words = [name for name in (*stats.FACTORS, "status", "case_id") if name != "mtu"]
    named = plain.assign(**{name: plain[name].astype("category") for name in words})
    for table in (stats.summary, stats.ceilings):
        pd.testing.assert_frame_equal(table(plain), table(named), check_dtype=False)
    pd.testing.assert_frame_equal(stats.effects(stats.grid(plain)), stats.effects(stats.grid(named)))
    assert stats.drift(plain) == stats.drift(named) or np.isnan(stats.drift(plain).in_block_pct).all()
    assert stats.provenance(plain) == stats.provenance(named)


def test_trials_that_were_coded_before_give_the_same() -> None:
    trials = frame(make_trials(blocks=2))
    coded = stats.encode(trials)
    for table in (stats.summary, stats.ceilings):
        pd.testing.assert_frame_equal(table(coded), table(trials))
    for rows in (stats.transfers, stats.measured):
        assert rows(coded).index.equals(rows(trials).index)
    pd.testing.assert_frame_equal(stats.effects(stats.grid(coded)), stats.effects(stats.grid(trials)))
    pd.testing.assert_series_equal(stats.from_own_case(coded), stats.from_own_case(trials))
    assert stats.provenance(coded) == stats.provenance(trials)
    assert stats.grid(coded) is stats.grid(coded)
    assert stats.grid(coded, ["mtu"]).factors == ("mtu",)


def test_what_is_set_in_a_frame_counts_from_then_on_but_not_in_what_was_coded_before() -> None:
    trials = frame([timed(1, 100), timed(2, 100)])
    coded, before = stats.encode(trials), stats.summary(trials)
    trials.loc[0, "tool"] = "rsync"
    trials.loc[1, "MB_per_s"] = 50.0
    assert stats.summary(trials)["tool"].tolist() == ["cp", "rsync"]
    assert stats.summary(trials)["median_MB_per_s"].tolist() == pytest.approx([50, 100])
    pd.testing.assert_frame_equal(stats.summary(coded), before)


def test_ceilings_are_the_link_alone() -> None:
    table = stats.ceilings(frame([timed(1, 118, protocol="link", tool="iperf3"), timed(1, 100)]))
    assert table["median_MB_per_s"].tolist() == pytest.approx([118])
    assert list(table.columns[:3]) == ["direction", "mtu", "tcp_space"]


@pytest.mark.parametrize("some", [[], [trial(protocol="link", tool="iperf3")], [trial(status="void")]])
def test_nothing_to_compare_gives_empty_tables_with_their_columns(some: list[Trial]) -> None:
    trials = frame(some)
    speeds = stats.grid(trials)
    assert stats.effects(speeds).empty
    assert "change_pct" in stats.effects(speeds).columns
    assert stats.interactions(speeds).empty
    assert stats.shares(speeds).table.empty
    assert len(stats.summary(trials)) <= 1
    assert stats.summary(trials)["n"].sum() == 0
    assert stats.from_own_case(trials).isna().all()
    assert np.isnan(stats.drift(trials).over_run_pct).all()


def test_a_trial_lies_from_the_mean_of_the_same_case() -> None:
    trials = frame([*(timed(block, 100 + block, case_id="a") for block in (1, 2, 3)), timed(1, 5, case_id="alone")])
    assert stats.from_own_case(trials).dropna().to_dict() == pytest.approx(
        {place: 100 * (speed / (101 * 102 * 103) ** (1 / 3) - 1) for place, speed in enumerate((101, 102, 103))}
    )


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
