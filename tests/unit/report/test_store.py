"""The server's store by itself, as the terminal, the report and JSON have it."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.paths import LINUX_CAPTURES
from support.synthetic_runs import trial, write_run

from lab.report import run_report
from lab.report.analysis import Analysis
from lab.report.bottlenecks import SHOTS, store_table
from lab.report.terminal import show_json
from lab.results import run_folder
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.results.trial import Trial
from lab.stats.store_numbers import BONNIE_TESTS, store_numbers
from lab.workloads.bonnie import parse_report as parse_bonnie
from lab.workloads.fio import parse_report as parse_fio

MB = 10**6


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


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    failed = row("failed", "dd", "write", status="failed", reason="full", elapsed_s=None)
    rows = [*dd_rows(1.0, 0.8, 1.25), *dd_rows(0.1, tool="memory"), failed, fio_row(), bonnie_row("64M-16", True)]
    return write_run(tmp_path, [trial(trial_id="cp"), *rows])


def test_medians_and_spread_of_dd_and_every_test_of_bonnie_are_in_the_table(folder: RunFolder) -> None:
    table = store_table(Analysis(run_folder.load(folder.path)).store_numbers)
    assert table is not None
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


def test_a_test_that_was_not_run_has_no_row_and_a_file_beyond_memory_no_mark(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [trial(trial_id="cp"), bonnie_row("1G-fast", False)])
    table = store_table(Analysis(run_folder.load(folder.path)).store_numbers)
    assert table is not None
    assert [name for name, *_ in table.rows] == [
        "bonnie++: written in blocks", "bonnie++: read and written again", "bonnie++: read in blocks",
        "bonnie++: random seeks",
    ]  # fmt: skip
    assert "Cached" not in table.caption


def test_runs_of_before_have_their_one_shot_and_runs_without_a_disk_nothing(tmp_path: Path) -> None:
    old = write_run(tmp_path / "old", [trial(trial_id="cp"), *dd_rows(0.5, tool="disk")])
    (only,) = store_numbers(run_folder.load(old.path)).to_dict("records")
    assert (only["tool"], only["test"], only["median"], only["n"]) == ("dd", "write", 200e6, 1)
    none = Analysis(run_folder.load(write_run(tmp_path / "none", [trial(trial_id="cp")]).path))
    assert none.store_numbers.empty
    assert store_table(none.store_numbers) is None


def test_where_some_were_too_short_it_says_how_many_gave_a_number(tmp_path: Path) -> None:
    twice = [bonnie_row("64M-16", True), bonnie_row("64M-1", True)]
    table = store_table(
        Analysis(run_folder.load(write_run(tmp_path, [trial(trial_id="cp"), *twice]).path)).store_numbers
    )
    assert table is not None
    cells = {name: (row[0], row[-1]) for name, *row in table.rows}
    assert cells["bonnie++: files made, in order (cached)"] == ("5196 /s", "1 of 2")
    assert cells["bonnie++: random seeks (cached)"] == ("too short", "2")


def test_what_the_disks_moved_is_beside_dd_where_they_are_counted(tmp_path: Path) -> None:
    counted = {"server": {"disk_written_bytes": 150 * MB, "disk_read_bytes": 7}}
    rows = [row("one", "dd", "write", elapsed_s=1.0, observed=counted)]
    rows += [row("two", "dd", "read", elapsed_s=1.0, observed=counted)]  # which came from a cache
    table = store_table(
        Analysis(run_folder.load(write_run(tmp_path, [trial(trial_id="cp"), *rows]).path)).store_numbers
    )
    assert table is not None
    speeds = {name: speed for name, speed, *_ in table.rows}
    assert speeds["the devices meanwhile: written"] == "150.0 MB/s"
    assert "the devices meanwhile: read" not in speeds


@pytest.mark.usefixtures("empty_figures")
def test_report_post_and_json_have_it(folder: RunFolder) -> None:
    shown: Any = json.loads(json.dumps(show_json(folder)))
    assert {(line["tool"], line["test"]) for line in shown["store"]} >= {("dd", "write"), ("bonnie++", "seeks")}
    report = run_report.write(folder)
    assert "The store by itself" in report.read_text()
    assert "bonnie++: files made, in order" in report.with_name("post-appendix.md").read_text()


def test_every_number_that_can_be_has_a_name() -> None:
    assert {test for tool, test in SHOTS if tool == "bonnie++"} == set(BONNIE_TESTS)


def test_numbers_of_somebody_else_may_be_anything(tmp_path: Path) -> None:
    odd = {"bonnie": {"seeks": {"per_s": "many", "too_short": "yes"}, "create": 7, "cached": []}, "requests": "none"}
    rows = [row("odd", "bonnie++", "write", observed=odd), row("odd fio", "fio", "read", observed=odd)]
    folder = write_run(tmp_path, [trial(trial_id="cp"), *rows])
    table = store_table(Analysis(run_folder.load(folder.path)).store_numbers)
    assert table is not None
    assert [cells[1] for cells in table.rows] == ["–"]
