"""Changes, intervals of medians, summaries and provenance; distributions, which are those of SciPy."""

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
from scipy import special
from scipy.stats import binom
from support.examples import at_most
from support.synthetic_runs import RUN, SIZE, make_trials, trial, write_run

from lab import stats
from lab.results import dataframe, run_folder
from lab.results.run_folder import Trial
from lab.stats.distributions import digamma, student_t, tetragamma, trigamma, two_sided_p
from lab.stats.summary_table import SPEEDS

speeds = st.floats(1, 1e4)


def frame(trials: Sequence[Trial], **run: Any) -> pd.DataFrame:
    with TemporaryDirectory() as directory:
        return run_folder.load(write_run(Path(directory), trials, **run).path)


def timed(block: int, speed: float, **levels: Any) -> Trial:
    """A trial in ``block`` that moved at ``speed`` MB/s."""
    name = "-".join(map(str, [block, speed, *levels.values()]))
    return trial(trial_id=name, block=block, elapsed_s=SIZE / 1e6 / speed, **levels)


@given(speeds, st.floats(-99, 1e4), speeds)
def test_percent_change_goes_round(baseline: float, change: float, value: float) -> None:
    assert stats.percent_change(baseline, baseline * (1 + change / 100)) == pytest.approx(change, abs=1e-9, rel=1e-9)
    there, back = stats.percent_change(baseline, value), stats.percent_change(value, baseline)
    assert (1 + there / 100) * (1 + back / 100) == pytest.approx(1)


@pytest.mark.parametrize("baseline", [0.0, -1.0, math.nan])
def test_a_change_from_nothing_has_no_percentage(baseline: float) -> None:
    with pytest.raises(ValueError, match="no percentage"):
        stats.percent_change(baseline, 1)


@pytest.mark.parametrize("count", range(6, 13))
def test_interval_covers_at_least_95_percent_by_enumeration(count: int) -> None:
    """Every pattern of above and below a true median of 0 is equally likely, whatever the distances are."""
    distances = np.arange(1, count + 1)
    ends = [stats.median_interval(distances * signs) for signs in itertools.product((-1, 1), repeat=count)]
    assert np.mean([low <= 0 <= high for low, high in ends]) >= 0.95
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
    assert (cells[4][2], len(cells)) == ("read", 16)
    assert "link" not in set(table["protocol"])
    assert table[["low_MB_per_s", "high_MB_per_s"]].isna().all(axis=None)  # two trials a cell give no interval


def test_summary_and_ceilings_of_known_speeds() -> None:
    table = stats.summary(frame([timed(block, 100 + block, ceiling_bytes_per_s=200e6) for block in range(1, 8)]))
    numbers = table.iloc[0][["n", "n_void", "n_failed", *SPEEDS, "share_of_ceiling"]].tolist()
    assert numbers == pytest.approx([7, 0, 0, 104, 101, 107, 101, 107, 0.52])
    failed = stats.summary(frame([trial(status="failed", elapsed_s=None)])).iloc[0]
    assert failed[["n", "n_failed", *SPEEDS]].tolist() == pytest.approx([0, 1, *[math.nan] * 5], nan_ok=True)
    table = stats.ceilings(frame([timed(1, 118, protocol="link", tool="iperf3"), timed(1, 100)]))  # of the link alone
    assert table["median_MB_per_s"].tolist() == pytest.approx([118])
    assert list(table.columns[:3]) == ["direction", "mtu", "tcp_space"]


@at_most(15)
@given(st.lists(speeds, min_size=1, max_size=7), st.lists(speeds, max_size=3), st.integers(0, 3))
def test_void_and_failed_trials_are_counted_and_never_averaged(good: list[float], void: list[float], lost: int) -> None:
    trials = [timed(block, speed) for block, speed in enumerate(good)]
    wrong = [timed(100 + block, speed, status="void") for block, speed in enumerate(void)]
    wrong += [trial(trial_id=f"lost{n}", block=200 + n, elapsed_s=None, status="failed") for n in range(lost)]
    before, after = (stats.summary(frame(some)).iloc[0] for some in (trials, trials + wrong))
    assert after[["n", "n_void", "n_failed"]].tolist() == [len(good), len(void), lost]
    pd.testing.assert_series_equal(before.drop(["n_void", "n_failed"]), after.drop(["n_void", "n_failed"]))


def test_anchors_are_in_no_summary_and_settings_that_differ_in_an_option_are_not_pooled() -> None:
    trials = frame([timed(1, 100), timed(1, 50, anchor=True), timed(1, 60, anchor=True, status="void")])
    row = stats.summary(trials).iloc[0]
    assert (row["n"], row["n_void"], row["median_MB_per_s"]) == (1, 0, pytest.approx(100))
    table = stats.summary(frame([timed(1, 100), timed(1, 50, options={"server_sync": "always"})]))
    assert table[["server_sync", "n"]].to_numpy().tolist() == [["default", 1], ["always", 1]]


def assert_same(one: Any, other: Any, *, check_dtype: bool = True) -> None:
    for table in (stats.summary, stats.ceilings):
        pd.testing.assert_frame_equal(table(one), table(other), check_dtype=check_dtype)
    pd.testing.assert_frame_equal(stats.effects(stats.grid(one)), stats.effects(stats.grid(other)))
    assert stats.provenance(one) == stats.provenance(other)


def test_words_may_be_categories_and_trials_encoded_before() -> None:
    plain = frame(make_trials(blocks=2, combinations=[("smb", "cp"), ("afp", "cp")]))
    words = [name for name in (*stats.FACTORS, "status", "case_id") if name != "mtu"]
    named = plain.assign(**{name: plain[name].astype("category") for name in words})
    assert_same(plain, named, check_dtype=False)
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
    trials.loc[0, "tool"], trials.loc[1, "MB_per_s"] = "rsync", 50.0
    medians = stats.summary(trials).set_index("tool")["median_MB_per_s"].to_dict()
    assert list(medians.items()) == [("cp", pytest.approx(50)), ("rsync", pytest.approx(100))]
    pd.testing.assert_frame_equal(stats.summary(encoded), before)


@pytest.mark.parametrize("some", [[], [trial(protocol="link", tool="iperf3")], [trial(status="void")]])
def test_nothing_to_compare_gives_empty_tables_with_their_columns(some: list[Trial]) -> None:
    trials = frame(some)
    speeds = stats.grid(trials)
    effects, summary = stats.effects(speeds), stats.summary(trials)
    assert "change_pct" in effects
    assert (len(effects), len(stats.interactions(speeds)), len(stats.shares(speeds).table)) == (0, 0, 0)
    assert len(summary) <= 1
    assert summary["n"].sum() == 0
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
        ("attic", None, "attic"), ("", None, ""), ("", "demo", "local lab"),
        ("box, 1 Gbit/s", "demo", "local lab, box, 1 Gbit/s"), ("Local lab on box", "demo", "Local lab on box"),
    ],
)  # fmt: skip
def test_provenance_says_local_lab_whenever_it_was_that(title: str, instance: str | None, where: str) -> None:
    hosts = "synthetic-client → synthetic-server · 2030-01-02"
    trials = frame([trial(), trial(trial_id="b", status="void")], title=title, instance=instance)
    facts = f"{hosts} · file of 512 MiB · n = 1 ok, 1 void, 0 failed · blocks: 1"
    assert stats.provenance(trials) == (where, facts)


def test_rows_are_those_that_pandas_makes() -> None:
    trials = dataframe.frame(make_trials(1), RUN).drop(columns="observed")
    assert repr(stats.rows_of(trials)) == repr(trials.to_dict("records"))
    assert stats.rows_of(trials[:0]) == []


FREEDOM = np.array([1, 1.5, 2, 2.7, 3, 4, 5, 8.25, 17, 30.5, 100, 999, 9999])


@pytest.mark.parametrize("t", [0.0, 1e-6, 0.01, 0.5, 1.0, 1.96, 3.0, 12.7, 1e3, 1e9])
def test_the_probability_outside(t: float) -> None:
    for sign in (1, -1):
        p = two_sided_p(FREEDOM, np.full_like(FREEDOM, sign * t))
        assert p == pytest.approx(2 * special.stdtr(FREEDOM, -t), rel=1e-9)


@given(st.floats(1, 1e4), st.floats(0, 1e6))
def test_the_probability_outside_of_anything(freedom: float, t: float) -> None:
    """scipy is wrong by 3e-9 at t = 1e-8 with one degree of freedom, where the probability is 1 - 2 t / pi."""
    p = two_sided_p(np.array([freedom]), np.array([t]))[0]
    assert p == pytest.approx(2 * special.stdtr(freedom, -t), rel=1e-9, abs=1e-8)
    assert 0 <= p <= 1


def test_the_probability_outside_of_almost_nothing() -> None:
    assert two_sided_p(np.array([1.0]), np.array([1e-8]))[0] == pytest.approx(1 - 2e-8 / np.pi, abs=1e-15)


def test_the_half_width_in_errors_and_what_is_not_known_stays_so() -> None:
    assert student_t(FREEDOM) == pytest.approx(special.stdtrit(FREEDOM, 0.975), rel=1e-10)
    assert student_t(np.tile(FREEDOM, (2, 1))) == pytest.approx(special.stdtrit(np.tile(FREEDOM, (2, 1)), 0.975))
    assert student_t(np.array([])).shape == (0,)
    nan = np.nan
    assert np.isnan(student_t(np.array([nan, 3.0]))).tolist() == [True, False]
    p = two_sided_p(np.array([nan, 3.0, 3.0]), np.array([1.0, nan, 1.0]))
    assert np.isnan(p).tolist() == [True, True, False]


@given(st.floats(0.4, 1e5))
def test_the_derivatives_of_the_logarithm_of_gamma(x: float) -> None:
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-12, abs=1e-12)
    assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-12)
    assert tetragamma(x) == pytest.approx(special.polygamma(2, x), rel=1e-12)


@pytest.mark.parametrize("count", [*range(200), *range(211, 3000, 149), 999, 1000, 12_345])
def test_the_rank_of_an_interval_of_the_median(count: int) -> None:
    rank = stats.interval_rank(count)
    assert rank == 0 or 2 * binom.cdf(rank - 1, count, 0.5) <= 0.05
    assert 2 * binom.cdf(rank, count, 0.5) > 0.05
