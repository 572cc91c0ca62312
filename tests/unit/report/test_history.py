"""What `lab history` says: sentences, tables on terminals of any width, JSON and the figure."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from support.rendered import Like, footer, lacking, marks, png, rendered
from support.runs_to_compare import write_history, write_saved_run
from support.synthetic_runs import RUN

from lab.report.figures.history import draw_history as draw
from lab.report.fitted_table import rich_table
from lab.report.history import History, answer, between, day, judge_slower, notes, tables
from lab.report.history_json import history_json
from lab.results.saved_runs import read_saved_runs


def new_kernel(number: int) -> dict[str, Any]:
    return {"kernel": "6.12" if number >= 14 else "6.1"}


def history_of(results: Path, speeds: Sequence[float] = (), **run: Any) -> History:
    """The history of the saved runs of a folder, in which ``speeds`` have one run each."""
    write_history(results, speeds, **run)
    return History(read_saved_runs(results, "nas"))


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory) -> History:
    return history_of(tmp_path_factory.mktemp("results"), [1.0] * 14 + [0.82] * 8, run_of=new_kernel)


def test_a_step_is_told_with_its_interval_its_days_and_what_else_changed(stepped: History) -> None:
    step = "write fell by 18 % [16, 19] between 16 and 17 March (runs 20300316T030000Z-nas and 2030031..."
    causes = "Changed then and only then, so perhaps the cause: client kernel 6.1 → 6.12; server kernel 6.1 → 6.12."
    before, after = (stepped.saved.runs[run].path for run in (13, 14))
    assert answer(stepped) == [
        Like(f"{step}; steady since then (8 runs), and before that since 3 March (14 runs)."),
        Like("read fell by ..."),
        Like(f"{causes} More: `lab compare {before} {after}..."),
    ]


@pytest.mark.parametrize(
    ("speeds", "sentences"),
    [
        ([1.0] * 12, ["write: steady at 110 MB/s since 3 March (12 runs).", "read: steady at 90...."]),
        ([1.0] * 12 + [0.7], ["write: steady at 110 MB/s since 3 March (13 runs); the newest run is 31 % [...] slower "
         "than the 12 before.", "..."]),
        ([1 - 0.01 * number for number in range(25)],
         ["write drifts by -30 % [... in 30 days: from 11... since 3 March (25 runs).", "..."]),
        ([1.0], ["write: 111 MB/s in its only run, on 3 March.", "..."]),
        ([1.0] * 4, ["...in 4 runs since 3 March; from 10 on a step can be told from chance.", "..."]),
    ],
    ids=["steady", "the newest run alone is slow", "a drift", "one run", "few runs"],
)  # fmt: skip
def test_what_became_of_a_speed_is_a_sentence(tmp_path: Path, speeds: list[float], sentences: list[str]) -> None:
    assert answer(history_of(tmp_path, speeds)) == list(map(Like, sentences))


def test_a_history_where_no_trial_counts_says_so(tmp_path: Path) -> None:
    folder = write_saved_run(tmp_path, 0, trials=1)
    folder.trials_path.write_text(folder.trials_path.read_text().replace('"ok"', '"void"'))
    history = history_of(tmp_path)
    assert answer(history) == ["No trial of 1 runs counts: `lab show RUN --table lost` says why."]
    assert judge_slower(history, 10) == (False, ["slower-than 10%: no trial of the newest run counts"])
    assert tables(history) == []
    assert png(draw(history))


def test_several_protocols_and_tools_have_a_row_and_a_table_each(tmp_path: Path) -> None:
    rows = [("smb", tool, way, 100.0) for tool in ("cp", "rsync") for way in ("write", "read")]
    history = history_of(tmp_path, [1.0] * 3, rows=rows)
    assert [line.partition(":")[0] for line in answer(history)] == [
        "SMB cp write", "SMB cp read", "SMB rsync write", "SMB rsync read"
    ]  # fmt: skip
    assert [table.caption.partition(":")[0] for table in tables(history)] == ["SMB cp", "SMB rsync"]
    assert len(draw(history).axes) == 2


def test_a_table_has_twenty_runs_the_newest_last_and_fits_without_losing_text(stepped: History) -> None:
    (table,) = tables(stepped)
    first, *runs = table.rows
    assert (first[0], len(runs), runs[-1][0]) == ("2 earlier", 20, "2030-03-24 03:00")
    assert [row[0] for row in runs if "↓" in row[1]] == ["2030-03-17 03:00"]
    for width in (60, 80, 120):
        lines = rendered(rich_table(table), width=width).splitlines()
        assert max(map(len, lines)) <= width
        for row in table.rows:
            assert any(not lacking(line, *row) for line in lines), (width, row)


@pytest.mark.parametrize(("percent", "is_met"), [(10, True), (15, False)])
def test_the_newest_run_is_judged_by_the_end_that_speaks_least_for_it(
    stepped: History, percent: float, is_met: bool
) -> None:
    met, (first, *_) = judge_slower(stepped, percent)
    verdict = f"slower-than {percent}%: {'met' if is_met else 'not met'}: the newest write differs by "
    assert (met, first) == (is_met, Like(f"{verdict}... from the 14 runs at 110 MB/s"))


def test_a_row_that_the_newest_run_lacks_or_with_few_earlier_runs_is_not_judged(tmp_path: Path) -> None:
    write_history(tmp_path / "many", [1.0] * 12)
    write_saved_run(tmp_path / "many", 12, 0.5, rows=[("smb", "cp", "read", 90.0)])
    assert judge_slower(history_of(tmp_path / "many"), 10) == (True, [Like("... read ...")])
    met, (first, *_) = judge_slower(history_of(tmp_path / "few", [1.0, 1.0, 0.5]), 10)
    few = "slower-than 10%: not judged: write has 2 earlier runs at one level, and 5 are needed"
    assert (met, first) == (False, few)


def test_json_has_all_of_it(stepped: History) -> None:
    whole = json.loads(json.dumps(history_json(stepped, 10.0), allow_nan=False))
    assert whole["answer"] == answer(stepped)
    assert whole["fail_if"]["met"]
    write = whole["rows"][0]
    assert [len(level["runs"]) for level in write["levels"]] == [14, 8]
    (step,) = write["steps"]
    assert step["low_pct"] < -18 < step["high_pct"]
    assert step["before"] == "20300316T030000Z-nas"
    assert {"name": "client kernel", "before": "6.1", "after": "6.12", "only_then": True} in step["changed"]
    assert len(write["points"]) == len(whole["runs"]) == 22
    assert "fail_if" not in history_json(stepped, None)


def test_the_figure_has_a_mark_a_run_and_direction_and_says_what_it_rests_on(stepped: History) -> None:
    figure = draw(stepped)
    (axes,) = figure.axes
    assert len(marks(axes)) == 2 * 22
    assert "22 runs, 2030-03-03 to 2030-03-24" in footer(figure).get_text()
    assert png(figure)


def test_runs_of_a_local_lab_are_named_so(tmp_path: Path) -> None:
    write_saved_run(tmp_path, 0, instance="x")
    mac = {role: facts | {"platform": "macos"} for role, facts in RUN["hosts"].items()}
    write_saved_run(tmp_path, 1, instance="x", hosts=mac)
    text = " ".join(rendered(*map(Text, notes(history_of(tmp_path))), width=500).split())
    assert text.count("numbers of the local lab") == 1
    assert "No number here is a measurement of a Mac" in text


NEWEST = datetime(2030, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("2030-05-02T03:00", "2030-05-03T03:00", "between 2 and 3 May"),
        ("2030-04-30T03:00", "2030-05-03T03:00", "between 30 April and 3 May"),
        ("2029-12-31T03:00", "2030-01-01T03:00", "between 31 December 2029 and 1 January"),
        ("2029-05-02T03:00", "2029-05-03T03:00", "between 2 and 3 May 2029"),
        ("2030-05-02T03:00", "2030-05-02T14:30", "on 2 May, between 03:00 and 14:30 UTC"),
    ],
)
def test_the_time_between_two_runs(before: str, after: str, text: str) -> None:
    first, last = (datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in (before, after))
    assert between(first, last, NEWEST) == text
    assert [day(NEWEST.replace(year=year), NEWEST) for year in (2030, 2029)] == ["1 June", "1 June 2029"]
