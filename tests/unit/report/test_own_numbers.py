"""What fio, frames and stores say of themselves, in the terminal, the report, JSON and the table."""

import csv
import json
from pathlib import Path

import pytest
from support.analysed import analysed
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.report import own_numbers, run_report
from lab.report.analysis import Analysis
from lab.report.sections import sections
from lab.report.tables import TextTable
from lab.report.terminal import show_json
from lab.results import run_folder
from lab.results.observed import FrameFacts, Observed, Requests, RequestsOneWay
from lab.results.trial import Trial


def way(iops: float) -> RequestsOneWay:
    return RequestsOneWay(
        requests=1000, bytes=4_096_000, runtime_s=1000 / iops, iops=iops, bytes_per_s=round(4096 * iops), p50_ms=0.4,
        p95_ms=0.9, p99_ms=1.5, p999_ms=7.25, longest_ms=20.5,
    )  # fmt: skip


def of_fio(block: int, jobs: str, requests: Requests) -> Trial:
    options = {"fio.jobs": jobs}
    return trial(
        trial_id=f"b{block}-{jobs}", case_id=f"fio-{jobs}", block=block, tool="fio", options=options,
        observed=Observed(requests=requests).to_json(),
    )  # fmt: skip


def of_frames(block: int, most: int) -> Trial:
    facts = FrameFacts(streams=most, frames=100, late=block, worst_late_s=block / 100, most_streams=most)
    return trial(
        trial_id=f"f{block}", case_id="frames", block=block, tool="frames", options={"frames.streams": "most"},
        observed=Observed(frames=facts).to_json(),
    )  # fmt: skip


MIXED = Requests(read=way(700.0), write=way(300.0))
TRIALS = [of_fio(block, "1", Requests(write=way(1000.0 * block))) for block in (1, 2, 3)]
TRIALS += [of_fio(block, "4", MIXED) for block in (1, 2, 3)] + [of_frames(block, 6 - block) for block in (1, 2, 3)]
TRIALS += [trial(trial_id="cp", case_id="cp", tool="cp")]


def known(table: TextTable | None) -> TextTable:
    assert table is not None
    return table


def test_cases_stand_in_the_order_of_their_levels_and_not_of_their_trials() -> None:
    jobs = ("write", "16", "read", "4")  # an option may have levels that a direction has, too
    trials = [of_fio(1, number, Requests(write=way(1000.0))) for number in jobs]
    table = known(own_numbers.requests_table(analysed(trials).some))
    assert [row[0].partition("jobs ")[2] for row in table.rows] == ["4", "16", "read", "write"]


def test_each_case_and_way_has_the_medians_of_its_trials() -> None:
    rows = {row[0]: row[1:] for row in known(own_numbers.requests_table(analysed(TRIALS).some)).rows}
    assert rows["AFP fio write, jobs 1"][:2] == ["2000", "8.2"]
    assert rows["AFP fio write, jobs 4"][0] == "300"
    assert rows["AFP fio write, its reads, jobs 4"] == ["700", "2.9", "0.400", "0.900", "1.500", "7.250", "20.5"]


def test_frames_are_summed_and_the_least_number_of_streams_is_told() -> None:
    table = known(own_numbers.frames_table(analysed(TRIALS).some))
    assert [row[1:] for row in table.rows] == [["4", "300", "6", "30.0", "4", "3"]]


@pytest.mark.usefixtures("empty_figures")
def test_json_report_and_table_have_them(tmp_path: Path) -> None:
    folder = write_run(tmp_path, TRIALS)
    shown = json.loads(json.dumps(show_json(folder)))
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
    assert (rows["f1"]["observed.frames.most_streams"], rows["cp"]["observed.frames.most_streams"]) == ("5.0", "")


def on_store(block: int, store: str, mode: str, mib: int | None) -> Trial:
    name, capacity = f"{store}-{mode}", None if mib is None else mib * 2**20
    options = {"ext4.data": mode} if mode else {}
    return trial(
        trial_id=f"b{block}-{name}", case_id=name, block=block, store=store, options=options,
        observed=Observed(store_capacity_bytes=capacity).to_json(),
    )  # fmt: skip


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
    shown = json.loads(json.dumps(show_json(folder)))
    assert [row["store_capacity_bytes"] for row in shown["capacity"]] == [mib * 2**20 for mib in (1826, 1929, 1930)]
    assert "What the file systems have room for" in [section.title for section in sections(run, "x")]
    trials = run.trials.frame
    rows = own_numbers.columns(trials)["observed.store_capacity_bytes"].set_axis(trials["trial_id"])
    assert (rows["b1-btrfs-"], str(rows["b1-ram-"])) == (1826.0 * 2**20, "nan")


def on_pool(block: int, direction: str, read: int, written: int) -> Trial:
    observed = Observed(store_capacity_bytes=2**30, store_read_bytes=read, store_written_bytes=written)
    return trial(
        trial_id=f"b{block}-{direction}", case_id=direction, block=block, store="zfs", direction=direction,
        size_bytes=1000, observed=observed.to_json(),
    )  # fmt: skip


def test_what_a_pool_wrote_or_read_stands_beside_it_for_each_byte_of_the_payload(tmp_path: Path) -> None:
    trials = [on_pool(block, *of) for block in (1, 2) for of in (("write", 5, 1500), ("read", 2000, 7))]
    folder = write_run(tmp_path, trials, caveats={"zfs": "not what several disks gain", "ext4": "nothing of that"})
    run = Analysis(run_folder.load(folder.path))
    table = known(own_numbers.capacity_table(run.some))
    assert table.headings == ["", "MB/s", "usable MiB", "on devices", "n"]
    assert [(row[0], row[3]) for row in table.rows] == [("AFP cp write", "1.50"), ("AFP cp read", "2.00")]
    assert "not what several disks gain" in table.caption
    assert stats.provenance(run.trials)[1].endswith(" · not what several disks gain"), "under every figure and table"
    shown = json.loads(json.dumps(show_json(folder)))
    assert [row["device_bytes"] for row in shown["capacity"]] == [1.5, 2.0]
    assert set(own_numbers.columns(run.trials.frame)["observed.store_written_bytes"].map(str)) == {"1500", "7"}


def test_what_a_write_had_to_read_first_has_a_column_where_it_is_some() -> None:
    trials = [on_pool(block, *of) for block in (1, 2) for of in (("write", 200, 3500), ("read", 2000, 7))]
    table = known(own_numbers.capacity_table(analysed(trials).some))
    assert table.headings == ["", "MB/s", "usable MiB", "on devices", "read first", "n"]
    assert [row[3:5] for row in table.rows] == [["3.50", "0.20"], ["2.00", "–"]]
    assert "of disks with sectors of 4 KiB that say 512 bytes" in table.caption


def test_a_run_of_other_tools_has_none_of_it(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [trial(tool="cp")])
    run = Analysis(run_folder.load(folder.path))
    for table in (own_numbers.requests_table, own_numbers.frames_table, own_numbers.capacity_table):
        assert table(run.some) is None
    assert not {"requests", "frames", "capacity"} & show_json(folder).keys()
    assert list(own_numbers.columns(run.trials.frame)) == []
