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
from support.synthetic_runs import RUN, SIZE, make_trials, trial, write_run

from lab import stats
from lab.results import dataframe, run_folder
from lab.results.run_folder import Trial
from lab.stats.summary_table import SPEEDS

speeds = st.floats(1, 1e4)


def frame(trials: Sequence[Trial], **run: Any) -> pd.DataFrame:
    with TemporaryDirectory() as directory:
        return run_folder.load(write_run(Path(directory), trials, **run).path)


def timed(block: int, speed: float, **levels: Any) -> Trial:
    """A trial in ``block`` that moved at ``speed`` MB/s."""
    name = "-".join(map(str, [block, speed, *levels.values()]))
    return trial(trial_id=name, block=block, elapsed_s=SIZE / 1e6 / speed, **levels)


@given(speeds, st.floats(-99, 1e4))
def test_percent_change_goes_round(baseline: float, change: float) -> None:
    assert stats.percent_change(baseline, baseline * (1 + change / 100)) == pytest.approx(change, abs=1e-9, rel=1e-9)


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


@given(st.lists(speeds, min_size=6, max_size=40), st.randoms())
def test_an_interval_holds_the_median_in_any_order(values: list[float], random: Any) -> None:
    low, high = stats.median_interval(values)
    assert min(values) <= low <= np.median(values) <= high <= max(values)
    assert (low, high) == stats.median_interval(random.sample(values, len(values)))
    assert np.isnan([stats.median_interval(values[:count]) for count in range(6)]).all()


def test_summary_has_a_row_a_cell_in_reading_order() -> None:
    table = stats.summary(frame(make_trials(blocks=2, combinations=[("smb", "cp"), ("afp", "cp")])))
    cells = table[["protocol", "tool", "direction", "mtu", "tcp_space", "store"]].to_numpy().tolist()
    assert cells[:2] == [["afp", "cp", "write", 1500, "default", "ram"], ["afp", "cp", "write", 1500, 65536, "ram"]]
    assert cells[4][2] == "read"
    assert len(cells) == 16
    assert "link" not in set(table["protocol"])
    assert table[["low_MB_per_s", "high_MB_per_s"]].isna().all(axis=None)  # two trials a cell give no interval


def test_summary_and_ceilings_of_known_speeds() -> None:
    table = stats.summary(frame([timed(block, 100 + block, ceiling_bytes_per_s=200e6) for block in range(1, 8)]))
    row = table.iloc[0]
    assert (row["n"], row["n_void"], row["n_failed"]) == (7, 0, 0)
    assert row[list(SPEEDS)].tolist() == pytest.approx([104, 101, 107, 101, 107])
    assert row["share_of_ceiling"] == pytest.approx(0.52)
    failed = stats.summary(frame([trial(status="failed", elapsed_s=None)])).iloc[0]
    assert (failed["n"], failed["n_failed"]) == (0, 1)
    assert failed[list(SPEEDS)].isna().all()
    table = stats.ceilings(frame([timed(1, 118, protocol="link", tool="iperf3"), timed(1, 100)]))  # of the link alone
    assert table["median_MB_per_s"].tolist() == pytest.approx([118])
    assert list(table.columns[:3]) == ["direction", "mtu", "tcp_space"]


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


def test_anchors_are_in_no_summary_and_settings_that_differ_in_an_option_are_not_pooled() -> None:
    trials = frame([timed(1, 100), timed(1, 50, anchor=True), timed(1, 60, anchor=True, status="void")])
    row = stats.summary(trials).iloc[0]
    assert (row["n"], row["n_void"], row["median_MB_per_s"]) == (1, 0, pytest.approx(100))
    table = stats.summary(frame([timed(1, 100), timed(1, 50, options={"server_sync": "always"})]))
    assert table[["server_sync", "n"]].to_numpy().tolist() == [["default", 1], ["always", 1]]


def assert_same(one: Any, other: Any) -> None:
    for table in (stats.summary, stats.ceilings):
        pd.testing.assert_frame_equal(table(one), table(other), check_dtype=False)
    pd.testing.assert_frame_equal(stats.effects(stats.grid(one)), stats.effects(stats.grid(other)))
    assert stats.provenance(one) == stats.provenance(other)


def test_words_may_be_categories_and_trials_encoded_before() -> None:
    plain = frame(make_trials(blocks=2, combinations=[("smb", "cp"), ("afp", "cp")]))
    words = [name for name in (*stats.FACTORS, "status", "case_id") if name != "mtu"]
    named = plain.assign(**{name: plain[name].astype("category") for name in words})
    assert_same(plain, named)
    assert stats.drift(plain) == stats.drift(named) or np.isnan(stats.drift(plain).in_block_pct).all()
    encoded = stats.encode(trials := frame(make_trials(blocks=2)))
    assert_same(encoded, trials)
    for rows in (stats.transfers, stats.measured):
        assert rows(encoded).index.equals(rows(trials).index)
    pd.testing.assert_series_equal(stats.from_own_case(encoded), stats.from_own_case(trials))
    assert stats.grid(encoded) is stats.grid(encoded)
    assert stats.grid(encoded, ["mtu"]).factors == ("mtu",)


def test_a_change_of_a_frame_counts_except_in_what_was_encoded_before() -> None:
    trials = frame([timed(1, 100), timed(2, 100)])
    encoded, before = stats.encode(trials), stats.summary(trials)
    trials.loc[0, "tool"] = "rsync"
    trials.loc[1, "MB_per_s"] = 50.0
    assert stats.summary(trials)["tool"].tolist() == ["cp", "rsync"]
    assert stats.summary(trials)["median_MB_per_s"].tolist() == pytest.approx([50, 100])
    pd.testing.assert_frame_equal(stats.summary(encoded), before)


@pytest.mark.parametrize("some", [[], [trial(protocol="link", tool="iperf3")], [trial(status="void")]])
def test_nothing_to_compare_gives_empty_tables_with_their_columns(some: list[Trial]) -> None:
    trials = frame(some)
    speeds = stats.grid(trials)
    effects = stats.effects(speeds)
    assert effects.empty
    assert "change_pct" in effects
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


def test_sizes_are_written_as_a_person_writes_them() -> None:
    labels = {"default": "default", 524288: "512 KiB", 4 << 20: "4 MiB", 1 << 30: "1 GiB", 1500: "1500 B"}
    assert {size: stats.size_label(size) for size in labels} == labels


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


def test_rows_are_those_that_pandas_makes() -> None:
    trials = dataframe.frame(make_trials(1), RUN).drop(columns="observed")
    mine, its = stats.rows_of(trials), trials.to_dict("records")
    assert repr(mine) == repr(its)
    assert stats.rows_of(trials[:0]) == []
