"""The server's store by itself, as the terminal, the report and JSON have it."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.analysed import analysed
from support.paths import LINUX_CAPTURES
from support.synthetic_runs import trial, write_run

from lab.report import run_report
from lab.report.bottlenecks import SHOTS, store_table
from lab.report.tables import TextTable
from lab.report.terminal import show_json
from lab.results.observed import Observed
from lab.results.trial import Trial
from lab.stats.store_numbers import BONNIE_TESTS
from lab.workloads.bonnie import parse_report as parse_bonnie
from lab.workloads.fio import parse_report as parse_fio

MB = 10**6
COPY = trial(trial_id="cp")


def row(trial_id: str, tool: str, direction: str, **changes: Any) -> Trial:
    base = {"protocol": "store", "store": "disk", "position": 0, "size_bytes": 100 * MB, "ceiling_bytes_per_s": None}
    return trial(trial_id=trial_id, case_id=f"store-{tool}-{direction}", tool=tool, direction=direction,
                 **base | changes)  # fmt: skip


def bonnie_row(name: str, cached: bool) -> Trial:
    report = parse_bonnie((LINUX_CAPTURES / f"bonnie-{name}.txt").read_text(), cached=cached)
    return row(f"bonnie-{name}", "bonnie++", "write", observed=Observed(bonnie=report).to_json())


def fio_row() -> Trial:
    requests = parse_fio((LINUX_CAPTURES / "fio-read.json").read_text())
    return row("fio", "fio", "read", observed=Observed(requests=requests).to_json())


def dd_rows(*elapsed_s: float, tool: str = "dd") -> list[Trial]:
    return [row(f"{tool}-{number}", tool, "write", elapsed_s=value) for number, value in enumerate(elapsed_s)]


FAILED = row("failed", "dd", "write", status="failed", reason="full", elapsed_s=None)
ROWS = [*dd_rows(1.0, 0.8, 1.25), *dd_rows(0.1, tool="memory"), FAILED, fio_row(), bonnie_row("64M-16", True)]


def table_of(*rows: Trial) -> TextTable:
    table = store_table(analysed([COPY, *rows]).store_numbers)
    assert table is not None
    return table


def test_medians_and_spread_of_dd_and_every_test_of_bonnie_are_in_the_table() -> None:
    table = table_of(*ROWS)
    rows = {name: cells for name, *cells in table.rows}
    assert rows["dd: written and flushed"] == ["100.0 MB/s", "80.0 … 125.0", "–", "–", "3"]
    assert rows["dd: written, not flushed"][0] == "1000.0 MB/s"
    assert rows["bonnie++: written byte by byte (cached)"] == ["0.4 MB/s", "0.4 … 0.4", "46", "63.2", "1"]
    assert rows["bonnie++: files made, in order (cached)"][:3] == ["5196 /s", "5196 … 5196", "48"]
    assert rows["bonnie++: read in blocks (cached)"] == ["too short", "–", "–", "25.2", "1"]
    assert rows["fio: 4 KiB at random, read"][0].endswith(" /s")
    assert len(rows) == 2 + 1 + len(BONNIE_TESTS)
    assert "half a second" in table.caption
    assert "less than twice the server's memory" in table.caption


def test_a_test_that_was_not_run_has_no_row_and_a_file_beyond_memory_no_mark() -> None:
    table = table_of(bonnie_row("1G-fast", False))
    assert [name for name, *_ in table.rows] == [
        "bonnie++: written in blocks", "bonnie++: read and written again", "bonnie++: read in blocks",
        "bonnie++: random seeks",
    ]  # fmt: skip
    assert "Cached" not in table.caption


def test_older_runs_have_their_one_shot_and_runs_without_a_disk_nothing() -> None:
    (only,) = analysed([COPY, *dd_rows(0.5, tool="disk")]).store_numbers.to_dict("records")
    assert (only["tool"], only["test"], only["median"], only["n"]) == ("dd", "write", 200e6, 1)
    none = analysed([COPY]).store_numbers
    assert none.empty
    assert store_table(none) is None


def test_if_some_tests_were_too_short_the_table_says_how_many_gave_a_number() -> None:
    table = table_of(bonnie_row("64M-16", True), bonnie_row("64M-1", True))
    cells = {name: (row[0], row[-1]) for name, *row in table.rows}
    assert cells["bonnie++: files made, in order (cached)"] == ("5196 /s", "1 of 2")
    assert cells["bonnie++: random seeks (cached)"] == ("too short", "2")


def test_what_the_disks_moved_is_beside_dd_if_they_are_counted() -> None:
    counted = {"server": {"disk_written_bytes": 150 * MB, "disk_read_bytes": 7}}
    written = row("one", "dd", "write", elapsed_s=1.0, observed=counted)
    from_cache = row("two", "dd", "read", elapsed_s=1.0, observed=counted)
    speeds = {name: speed for name, speed, *_ in table_of(written, from_cache).rows}
    assert speeds["the devices meanwhile: written"] == "150.0 MB/s"
    assert "the devices meanwhile: read" not in speeds


@pytest.mark.usefixtures("empty_figures")
def test_report_post_and_json_have_it(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [COPY, *ROWS])
    shown: Any = json.loads(json.dumps(show_json(folder)))
    assert {(line["tool"], line["test"]) for line in shown["store"]} >= {("dd", "write"), ("bonnie++", "seeks")}
    report = run_report.write(folder)
    assert "The store by itself" in report.read_text()
    assert "bonnie++: files made, in order" in report.with_name("post-appendix.md").read_text()


def test_every_possible_number_has_a_name() -> None:
    assert {test for tool, test in SHOTS if tool == "bonnie++"} == set(BONNIE_TESTS)


def test_numbers_of_a_foreign_run_may_be_anything() -> None:
    odd = {"bonnie": {"seeks": {"per_s": "many", "too_short": "yes"}, "create": 7, "cached": []}, "requests": "none"}
    table = table_of(row("odd", "bonnie++", "write", observed=odd), row("odd fio", "fio", "read", observed=odd))
    assert [cells[1] for cells in table.rows] == ["–"]
