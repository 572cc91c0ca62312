"""Two shots of the link in each block: the larger is the ceiling, and how far they differ is known."""

from pathlib import Path
from typing import Any

import pytest
from support.observed_trials import FULL_LINK, SIZE, a_trial, judged
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.report import figures, tables
from lab.results.run_folder import Trial, load
from lab.stats.link_ceilings import compare_ceilings, spreads

SETTING = ("write", 1500, "default", "1")


def shots(*rates_of_blocks: tuple[float, ...], **changes: Any) -> list[Trial]:
    """What iperf3 reached in each block, MB/s."""
    return [
        trial(protocol="link", tool="iperf3", trial_id=f"link{block}-{number}", case_id="link", block=block,
              size_bytes=SIZE, elapsed_s=SIZE / rate / 1e6, ceiling_bytes_per_s=None, **changes)
        for block, rates in enumerate(rates_of_blocks, 1) for number, rate in enumerate(rates)
    ]  # fmt: skip


def frame(folder: Path, *rates_of_blocks: tuple[float, ...], ceiling_shots: int = 2) -> Any:
    trials = [*shots(*rates_of_blocks), trial(trial_id="t1"), trial(trial_id="t2", block=2)]
    return load(write_run(folder, trials, ceiling_shots=ceiling_shots).path)


def test_the_table_has_the_larger_of_two_shots_and_how_low_the_other_one_was(tmp_path: Path) -> None:
    table = stats.ceilings(frame(tmp_path / "two", (100, 80), (90, 120)))
    row = table.iloc[0]
    assert (row["n"], row["median_MB_per_s"], row["min_MB_per_s"]) == (2, pytest.approx(110), pytest.approx(100))
    assert row["lower_shot"] == pytest.approx(0.75)
    text = tables.settings(table)
    assert (text.headings[-1], text.rows[0][-1]) == ("lower shot", "75 %")
    table = stats.ceilings(frame(tmp_path / "one", (100,), (120,), ceiling_shots=1))
    assert "lower_shot" not in table
    assert "lower shot" not in tables.settings(table).headings


def test_blocks_are_compared_by_their_larger_shots_and_a_run_by_all(tmp_path: Path) -> None:
    known = compare_ceilings(frame(tmp_path / "a", (100, 50), (60, 110)))[SETTING]
    assert known["ceiling_spread"] == pytest.approx(1.1)
    assert known["lower_shot"] == pytest.approx(0.5)
    assert list(spreads(frame(tmp_path / "b", (100, 90), (60, 50)))) == pytest.approx([2.0, 1.2])


@pytest.mark.parametrize(
    ("rates", "grade"),
    [
        ([(100, 99)], "certain"),  # of one block, but measured twice
        ([(100, 80)], "probable"),
        ([(100, 80), (99, 100)], "probable"),
        ([(100, 99), (101, 100)], "certain"),
    ],
)
def test_a_link_is_certain_where_both_shots_agree(rates: Any, grade: str) -> None:
    row = judged(a_trial(**FULL_LINK), *shots(*rates), ceiling_shots=2).iloc[0]
    assert (row["limited_by"], row["grade"]) == ("link", grade), row["evidence"]
    given = a_trial(**FULL_LINK, ceiling_bytes_per_s=55e6)  # a disturbed shot before it: the other one counts
    row = judged(given, *shots((55, 100)), ceiling_shots=2).iloc[0]
    assert "link: 94 % of the ceiling" in row["evidence"]


def test_a_figure_marks_the_larger_shot_of_each_block(tmp_path: Path) -> None:
    drawn = figures.throughput(frame(tmp_path, (100, 80), (90, 120)))
    ticks = [segment[0][0] for lines in drawn.axes[0].collections for segment in getattr(lines, "get_segments", list)()]
    assert {100.0, 120.0} <= {round(float(tick), 6) for tick in ticks}
    assert not {80.0, 90.0} & {round(float(tick), 6) for tick in ticks}
