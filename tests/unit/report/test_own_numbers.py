"""What fio, frames, file systems and the server's store say of themselves: in tables, report, JSON and the CSV."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from support.analysed import analysed
from support.paths import LINUX_CAPTURES
from support.rendered import lacking
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.report import own_numbers, run_report
from lab.report.analysis import Analysis
from lab.report.bottlenecks import SHOTS, store_table
from lab.report.run_report import sections
from lab.report.tables import TextTable
from lab.report.terminal import show_json
from lab.results import run_folder
from lab.results.observed import FrameFacts, Observed, Requests, RequestsOneWay
from lab.results.run_folder import RunFolder
from lab.results.trial import Trial
from lab.stats.store_numbers import BONNIE_TESTS
from lab.workloads.bonnie import parse_report as parse_bonnie
from lab.workloads.fio import parse_report as parse_fio

MB, MIB = 10**6, 2**20


def way(iops: float) -> RequestsOneWay:
    return RequestsOneWay(
        requests=1000, bytes=4_096_000, runtime_s=1000 / iops, iops=iops, bytes_per_s=round(4096 * iops), p50_ms=0.4,
        p95_ms=0.9, p99_ms=1.5, p999_ms=7.25, longest_ms=20.5,
    )  # fmt: skip


def observing(name: str, block: int, observed: Observed, **changes: Any) -> Trial:
    return trial(trial_id=f"b{block}-{name}", case_id=name, block=block, observed=observed.to_json(), **changes)


def of_fio(block: int, jobs: str, requests: Requests) -> Trial:
    return observing(jobs, block, Observed(requests=requests), tool="fio", options={"fio.jobs": jobs})


def of_frames(block: int, most: int) -> Trial:
    facts = FrameFacts(streams=most, frames=100, late=block, worst_late_s=block / 100, most_streams=most)
    return observing("f", block, Observed(frames=facts), tool="frames", options={"frames.streams": "most"})


MIXED = Requests(read=way(700.0), write=way(300.0))
TRIALS = [of_fio(block, "1", Requests(write=way(1000.0 * block))) for block in (1, 2, 3)]
TRIALS += [of_fio(block, "4", MIXED) for block in (1, 2, 3)] + [of_frames(block, 6 - block) for block in (1, 2, 3)]
COPY = trial(trial_id="cp", case_id="cp")
TRIALS += [COPY]


def known(table: TextTable | None) -> TextTable:
    assert table is not None
    return table


def json_of(folder: RunFolder) -> Any:
    return json.loads(json.dumps(show_json(folder)))


def test_cases_stand_in_the_order_of_their_levels_and_not_of_their_trials() -> None:
    jobs = ("write", "16", "read", "4")  # an option may have levels that a direction has, too
    trials = [of_fio(1, number, Requests(write=way(1000.0))) for number in jobs]
    table = known(own_numbers.requests_table(analysed(trials).some))
    assert [row[0].partition("jobs ")[2] for row in table.rows] == ["4", "16", "read", "write"]


def test_each_case_and_way_has_the_medians_of_its_trials_and_frames_are_summed() -> None:
    some = analysed(TRIALS).some
    rows = {row[0]: row[1:] for row in known(own_numbers.requests_table(some)).rows}
    assert rows["AFP fio write, jobs 1"][:2] == ["2000", "8.2"]
    assert rows["AFP fio write, jobs 4"][0] == "300"
    assert rows["AFP fio write, its reads, jobs 4"] == ["700", "2.9", "0.400", "0.900", "1.500", "7.250", "20.5"]
    assert [row[1:] for row in known(own_numbers.frames_table(some)).rows] == [["4", "300", "6", "30.0", "4", "3"]]


@pytest.mark.usefixtures("empty_figures")
def test_json_report_and_table_have_them(tmp_path: Path) -> None:
    folder = write_run(tmp_path, TRIALS)
    shown = json_of(folder)
    assert [(row["way"], row["n"], row["p999_ms"]) for row in shown["requests"]] == [
        ("read", 3, 7.25), ("write", 3, 7.25), ("write", 3, 7.25),
    ]  # fmt: skip
    assert shown["frames"][0]["late"] == 6
    report = run_report.write(folder)
    assert "How long requests took" in report.read_text()
    assert "Which frames came late" in report.with_name("post-appendix.md").read_text()
    with report.with_name("table.csv").open(newline="") as file:
        rows = {row["trial_id"]: row for row in csv.DictReader(file)}
    assert (rows["b3-1"]["observed.requests.write.iops"], rows["b3-1"]["observed.requests.read.iops"]) == ("3000.0", "")
    assert [rows[name]["observed.frames.most_streams"] for name in ("b1-f", "cp")] == ["5.0", ""]


def on_store(block: int, store: str, mode: str, mib: int | None) -> Trial:
    observed = Observed(store_capacity_bytes=None if mib is None else mib * MIB)
    return observing(f"{store}-{mode}", block, observed, store=store, options={"ext4.data": mode} if mode else {})


def test_what_a_store_has_room_for_stands_beside_its_speed(tmp_path: Path) -> None:
    cases = [("ext4", "journal", 1929), ("ext4", "ordered", 1930), ("btrfs", "", 1826), ("ram", "", None)]
    folder = write_run(tmp_path, [on_store(block, *case) for case in cases for block in (1, 2)])
    run = Analysis(run_folder.load(folder.path))
    table = known(own_numbers.capacity_table(run.some))
    speed = table.rows[0][1]
    assert float(speed) > 0
    assert table.rows == [
        ["AFP cp write, btrfs", speed, "1826", "2"],
        ["AFP cp write, ext4, data journal", speed, "1929", "2"],
        ["AFP cp write, ext4, data ordered", speed, "1930", "2"],
    ]
    assert [row["store_capacity_bytes"] // MIB for row in json_of(folder)["capacity"]] == [1826, 1929, 1930]
    assert "What the file systems have room for" in [section.title for section in sections(run, "x")]
    trials = run.trials.frame
    rows = own_numbers.columns(trials)["observed.store_capacity_bytes"].set_axis(trials["trial_id"])
    assert (rows["b1-btrfs-"], str(rows["b1-ram-"])) == (1826.0 * MIB, "nan")


def on_pool(**moved: tuple[int, int]) -> list[Trial]:
    """Two trials of 1000 bytes in each direction, and the bytes that the pool read and wrote."""
    return [
        observing(direction, block, Observed(store_capacity_bytes=2**30, store_read_bytes=read,
                  store_written_bytes=written), store="zfs", direction=direction, size_bytes=1000)
        for block in (1, 2)
        for direction, (read, written) in moved.items()
    ]  # fmt: skip


def test_what_a_pool_wrote_or_read_stands_beside_it_for_each_byte_of_the_payload(tmp_path: Path) -> None:
    caveats = {"zfs": "not what several disks gain", "ext4": "nothing of that"}
    folder = write_run(tmp_path, on_pool(write=(5, 1500), read=(2000, 7)), caveats=caveats)
    run = Analysis(run_folder.load(folder.path))
    table = known(own_numbers.capacity_table(run.some))
    assert table.headings == ["", "MB/s", "usable MiB", "on devices", "n"]
    assert [(row[0], row[3]) for row in table.rows] == [("AFP cp write", "1.50"), ("AFP cp read", "2.00")]
    assert "not what several disks gain" in table.caption
    assert stats.provenance(run.trials)[1].endswith(" · not what several disks gain"), "under every figure and table"
    assert [row["device_bytes"] for row in json_of(folder)["capacity"]] == [1.5, 2.0]
    assert set(own_numbers.columns(run.trials.frame)["observed.store_written_bytes"].map(str)) == {"1500", "7"}
    # what a write had to read first has a column where it is some
    read_first = known(own_numbers.capacity_table(analysed(on_pool(write=(200, 3500), read=(2000, 7))).some))
    assert read_first.headings == ["", "MB/s", "usable MiB", "on devices", "read first", "n"]
    assert [row[3:5] for row in read_first.rows] == [["3.50", "0.20"], ["2.00", "–"]]
    assert "of disks with sectors of 4 KiB that say 512 bytes" in read_first.caption


def test_a_run_of_other_tools_has_none_of_it(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [COPY])
    run = Analysis(run_folder.load(folder.path))
    for table in (own_numbers.requests_table, own_numbers.frames_table, own_numbers.capacity_table):
        assert table(run.some) is None
    assert not {"requests", "frames", "capacity"} & show_json(folder).keys()
    assert list(own_numbers.columns(run.trials.frame)) == []


def row(trial_id: str, tool: str, direction: str, **changes: Any) -> Trial:
    base = {"protocol": "store", "store": "disk", "position": 0, "size_bytes": 100 * MB, "ceiling_bytes_per_s": None}
    return trial(trial_id=trial_id, case_id=f"store-{tool}-{direction}", tool=tool, direction=direction,
                 **base | changes)  # fmt: skip


def bonnie_row(name: str, cached: bool) -> Trial:
    report = parse_bonnie((LINUX_CAPTURES / f"bonnie-{name}.txt").read_text(), cached=cached)
    return row(f"bonnie-{name}", "bonnie++", "write", observed=Observed(bonnie=report).to_json())


def dd_rows(*elapsed_s: float, tool: str = "dd") -> list[Trial]:
    return [row(f"{tool}-{number}", tool, "write", elapsed_s=value) for number, value in enumerate(elapsed_s)]


FIO = Observed(requests=parse_fio((LINUX_CAPTURES / "fio-read.json").read_text())).to_json()
FAILED = row("failed", "dd", "write", status="failed", reason="full", elapsed_s=None)
SHOTS_AT_STORE = [*dd_rows(1.0, 0.8, 1.25), *dd_rows(0.1, tool="memory"), FAILED, bonnie_row("64M-16", True)]
SHOTS_AT_STORE += [row("fio", "fio", "read", observed=FIO)]


def store_table_of(*rows: Trial) -> TextTable:
    return known(store_table(analysed([COPY, *rows]).store_numbers))


def test_medians_and_spread_of_dd_and_every_test_of_bonnie_are_in_the_table() -> None:
    table = store_table_of(*SHOTS_AT_STORE)
    rows = {name: cells for name, *cells in table.rows}
    assert rows["dd: written and flushed"] == ["100.0 MB/s", "80.0 … 125.0", "–", "–", "3"]
    assert rows["dd: written, not flushed"][0] == "1000.0 MB/s"
    assert rows["bonnie++: written byte by byte (cached)"] == ["0.4 MB/s", "0.4 … 0.4", "46", "63.2", "1"]
    assert rows["bonnie++: files made, in order (cached)"][:3] == ["5196 /s", "5196 … 5196", "48"]
    assert rows["bonnie++: read in blocks (cached)"] == ["too short", "–", "–", "25.2", "1"]
    assert rows["fio: 4 KiB at random, read"][0].endswith(" /s")
    assert len(rows) == 2 + 1 + len(BONNIE_TESTS)
    assert not lacking(table.caption, "half a second", "less than twice the server's memory")
    assert {test for tool, test in SHOTS if tool == "bonnie++"} == set(BONNIE_TESTS), "every possible number has a name"


def test_older_runs_have_their_one_shot_and_runs_without_a_disk_nothing() -> None:
    (only,) = analysed([COPY, *dd_rows(0.5, tool="disk")]).store_numbers.to_dict("records")
    assert (only["tool"], only["test"], only["median"], only["n"]) == ("dd", "write", 200e6, 1)
    none = analysed([COPY]).store_numbers
    assert none.empty
    assert store_table(none) is None


def test_a_test_that_was_too_short_or_not_run_gives_no_number_and_a_file_beyond_memory_has_no_mark() -> None:
    table = store_table_of(bonnie_row("64M-16", True), bonnie_row("64M-1", True))
    cells = {name: (row[0], row[-1]) for name, *row in table.rows}
    assert cells["bonnie++: files made, in order (cached)"] == ("5196 /s", "1 of 2")
    assert cells["bonnie++: random seeks (cached)"] == ("too short", "2")
    beyond = store_table_of(bonnie_row("1G-fast", False))
    names = ("written in blocks", "read and written again", "read in blocks", "random seeks")
    assert [name for name, *_ in beyond.rows] == [f"bonnie++: {name}" for name in names]
    assert "Cached" not in beyond.caption


def test_what_the_disks_moved_is_beside_dd_if_they_are_counted() -> None:
    counted = {"server": {"disk_written_bytes": 150 * MB, "disk_read_bytes": 7}}
    written = row("one", "dd", "write", elapsed_s=1.0, observed=counted)
    from_cache = row("two", "dd", "read", elapsed_s=1.0, observed=counted)
    speeds = {name: speed for name, speed, *_ in store_table_of(written, from_cache).rows}
    assert speeds["the devices meanwhile: written"] == "150.0 MB/s"
    assert "the devices meanwhile: read" not in speeds


def test_numbers_of_a_foreign_run_may_be_anything() -> None:
    odd = {"bonnie": {"seeks": {"per_s": "many", "too_short": "yes"}, "create": 7, "cached": []}, "requests": "none"}
    table = store_table_of(row("odd", "bonnie++", "write", observed=odd), row("odd fio", "fio", "read", observed=odd))
    assert [cells[1] for cells in table.rows] == ["–"]
