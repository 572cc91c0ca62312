"""Stages from the disk to the tool, stores by themselves, and trees of files: numbers of a run that was written."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.report import run_report, tables, terminal
from lab.report.analysis import Analysis
from lab.report.bottlenecks import stages_table, store_table
from lab.report.registry import OF_RUN
from lab.results import run_folder
from lab.results.trial import Trial
from lab.stats.stages import DISK, LINK, PROTOCOL, SERVER, STAGES, STORE, TOOL, UNFLUSHED, fastest_cases

MB = 10**6


def moved(speed: float, tool: str, name: str = "", **changes: Any) -> Trial:
    """A transfer of 100 MB at so many MB/s."""
    case = name or "-".join(map(str, (tool, *changes.values())))
    base = {"trial_id": case, "case_id": case, "protocol": "smb", "store": "disk", "direction": "write"}
    return trial(tool=tool, size_bytes=100 * MB, elapsed_s=100 / speed, **base | changes)


def by_itself(protocol: str, tool: str, speed: float, name: str = "", **changes: Any) -> Trial:
    alone = {"protocol": protocol, "position": 0, "ceiling_bytes_per_s": None}
    return moved(speed, tool, name or f"{protocol}-{tool}", **alone | changes)


SHOTS = [
    by_itself("store", "dd", speed, f"dd{number}", observed={"server": {"disk_written_bytes": 150 * MB}})
    for number, speed in enumerate((50.0, 60.0, 40.0))
]
STORE_AND_LINK = [*SHOTS, by_itself("store", "memory", 2000.0), by_itself("link", "iperf3", 110.0)]


def analysis(folder: Path, *trials: Trial) -> Analysis:
    return Analysis(run_folder.load(write_run(folder, trials).path))


def test_every_stage_is_beside_the_case_that_it_holds_for(tmp_path: Path) -> None:
    run = analysis(tmp_path, moved(45.0, "cp"), moved(40.0, "rsync"), *STORE_AND_LINK)
    stages = [stage for stage in STAGES if stage != UNFLUSHED]
    rows = {row["tool"]: [row[stage] for stage in stages] for row in run.waterfall.to_dict("records")}
    assert rows["rsync"] == pytest.approx([75.0, 50.0, 2000.0, 110.0, 45.0, 40.0])
    assert rows["cp"] == pytest.approx([75.0, 50.0, 2000.0, 110.0, 45.0, 45.0])
    assert run.waterfall[UNFLUSHED].isna().all()


def test_a_store_is_that_of_the_files_and_a_link_that_of_the_network(tmp_path: Path) -> None:
    run = analysis(
        tmp_path, moved(45.0, "cp"), moved(100.0, "cp", store="ram"), moved(30.0, "cp", direction="read"),
        moved(44.0, "cp", mtu=9000), *STORE_AND_LINK,
    )  # fmt: skip
    rows = run.waterfall
    on_ram, read, jumbo = rows[rows["store"] == "ram"], rows[rows["direction"] == "read"], rows[rows["mtu"] == 9000]
    assert read[[DISK, STORE, SERVER, LINK]].isna().all(axis=None)
    stages = on_ram[[DISK, STORE, SERVER, LINK]].to_numpy(float)
    assert stages == pytest.approx(np.array([[np.nan] * 3 + [110]]), nan_ok=True)
    assert jumbo[[LINK, STORE]].to_numpy(float) == pytest.approx(np.array([[np.nan, 50]]), nan_ok=True)


def test_each_store_that_the_lab_made_has_its_own_stages_at_its_own_levels(tmp_path: Path) -> None:
    pools = {"9": 30.0, "12": 60.0}
    shots = [
        by_itself("store", tool, factor * speed, f"zfs-{ashift}-{tool}", store="zfs", options={"zfs.ashift": ashift})
        for ashift, speed in pools.items() for tool, factor in (("dd", 1.0), ("memory", 20.0))
    ]  # fmt: skip
    shots += [by_itself("store", "dd", 80.0, "ext4", store="ext4")]
    onto = [moved(25.0, "cp", store="zfs", options={"zfs.ashift": ashift}) for ashift in pools]
    run = analysis(tmp_path, *onto, moved(70.0, "cp", store="ext4"), moved(45.0, "cp"), *shots, *STORE_AND_LINK)
    rows = run.waterfall.to_dict("records")
    speeds = {(row["store"], row["zfs.ashift"]): [row[STORE], row[SERVER], row[LINK], row[TOOL]] for row in rows}
    keys = [("zfs", "9"), ("zfs", "12"), ("ext4", "–"), ("disk", "–")]
    expected = [[30, 600, 110, 25], [60, 1200, 110, 25], [80, np.nan, 110, 70], [50, 2000, 110, 45]]
    assert np.array([speeds[key] for key in keys]) == pytest.approx(np.array(expected), nan_ok=True)
    reached = {row[0]: row[-2:] for row in stages_table(run.waterfall).rows}
    assert reached["SMB cp write, zfs, ZFS ashift 9"] == ["store", "83 %"]
    assert reached["SMB cp write, zfs, ZFS ashift 12"] == ["store", "42 %"]


def test_an_option_of_a_tool_makes_no_other_protocol_but_one_of_a_mount_does(tmp_path: Path) -> None:
    small, large = ({"dd.bs": size} for size in ("4 KiB", "1 MiB"))
    signed, plain = ({"smb.signing": level} for level in ("true", "false"))
    run = analysis(
        tmp_path, *(moved(speed, "dd", options=options) for speed, options in ((20.0, small), (40.0, large))),
        *(moved(speed, "cp", options=options) for speed, options in ((70.0, signed), (90.0, plain))),
    )  # fmt: skip
    speeds = run.waterfall.groupby("tool")[PROTOCOL].agg(sorted).to_dict()
    assert speeds == {"dd": [40.0, 40.0], "cp": [70.0, 90.0]}


def test_what_a_tool_reached_before_its_flush_is_a_stage_where_trials_tell(tmp_path: Path) -> None:
    # 100 MB in 2 s, of which the flush took 1, 0.75 and 0.4
    known = [
        moved(50.0, "cp", observed={"flush_s": flush_s}).to_json() | {"trial_id": f"cp{n}", "case_id": "cp", "block": n}
        for n, flush_s in enumerate((1.0, 0.75, 0.4), 1)
    ]
    run = analysis(tmp_path, *map(Trial.from_json, known), moved(40.0, "rsync"), *STORE_AND_LINK)
    unflushed = run.waterfall.set_index("tool")[UNFLUSHED].to_dict()
    assert unflushed == pytest.approx({"cp": 80.0, "rsync": np.nan}, nan_ok=True)
    table = stages_table(run.waterfall)
    assert table.headings[5:8] == ["protocol", "before flush", "tool"]
    assert [row[6] for row in table.rows] == ["80.0", "–"]
    assert "before flush: this one until it ended" in table.caption


def test_the_narrowest_stage_is_named_with_how_much_of_it_was_reached(tmp_path: Path) -> None:
    table = stages_table(analysis(tmp_path / "a", moved(45.0, "cp"), *STORE_AND_LINK).waterfall)
    assert table.headings[1:] == ["disk", "store", "server", "link", "protocol", "tool", "narrowest", "reached"]
    assert table.rows == [["SMB cp write", "75.0", "50.0", "2000.0", "110.0", "45.0", "45.0", "store", "90 %"]]
    only_speeds = stages_table(analysis(tmp_path / "b", moved(45.0, "cp")).waterfall)
    assert only_speeds.headings == ["", "protocol", "tool", "narrowest", "reached"]
    assert only_speeds.rows == [["SMB cp write", "45.0", "45.0", "–", "–"]]
    failed = analysis(tmp_path / "c", trial(trial_id="cp", status="failed", elapsed_s=None)).waterfall
    assert isinstance(failed, pd.DataFrame)
    assert (len(failed), len(fastest_cases(failed)), stages_table(failed).rows) == (0, 0, [])


def test_the_fastest_case_of_each_tool_on_the_store_in_the_order_of_the_other_tables(tmp_path: Path) -> None:
    cases = moved(45.0, "cp"), moved(48.0, "cp", mtu=9000)
    run = analysis(tmp_path / "a", *cases, moved(100.0, "cp", store="ram"), *STORE_AND_LINK)
    assert fastest_cases(run.waterfall)[TOOL].to_list() == pytest.approx([48.0])
    run = analysis(tmp_path / "b", moved(30.0, "cp", direction="read"), *cases)
    assert fastest_cases(run.waterfall)["direction"].to_list() == ["write", "read"]


SPEEDS = {"9": (50.0, 60.0, 40.0), "12": (100.0, 121.0, 80.0)}  # in three blocks


def of_pool(speed: float, tool: str, block: int, ashift: str, **changes: Any) -> Trial:
    """A trial on a pool of this ashift."""
    pool: dict[str, Any] = {"block": block, "store": "zfs", "options": {"zfs.ashift": ashift}}
    named = {"trial_id": f"{tool}-{block}-{ashift}", "case_id": f"{tool}-{ashift}"}
    return moved(speed, tool, **pool | named | changes)


def shots(protocol: str = "store") -> list[Trial]:
    """Three shots of dd in each block, of which the one in the middle is the block's."""
    return [
        of_pool(SPEEDS[ashift][block - 1] * factor, "dd", block, ashift, trial_id=f"{block}-{ashift}-{factor}",
                protocol=protocol, position=0, ceiling_bytes_per_s=None)
        for block in (1, 2, 3) for ashift in SPEEDS for factor in (1.0, 0.5, 3.0)
    ]  # fmt: skip


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    speeds = {"9": 30.0, "12": 33.0}
    copies = [of_pool(speeds[at], "cp", block, at, protocol="nfs") for block in (1, 2, 3) for at in speeds]
    return write_run(tmp_path, [*copies, *shots()]).path


def test_a_level_is_compared_within_blocks_by_the_median_of_its_shots(shared: Path) -> None:
    run = Analysis(run_folder.load(shared))
    (row,) = run.store_effects.to_dict("records")
    names = ("factor", "baseline", "level", "tool", "direction", "n_blocks", "established")
    assert [row[name] for name in names] == ["zfs.ashift", "9", "12", "dd", "write", 3, True]
    assert row["change_pct"] == pytest.approx(100.55, abs=0.01)
    assert row["low_pct"] == pytest.approx(98.2, abs=0.1)
    table: Any = OF_RUN["store-effects"].words(run)
    assert [cells[:2] for cells in table.rows] == [["ZFS ashift 9 → 12:", ""], ["local dd write", "+100.6*"]]
    shown: Any = terminal.show_json(run_folder.RunFolder(shared))
    assert [effect["factor"] for effect in shown["store_effects"]] == ["zfs.ashift"]


def test_each_level_is_a_row_of_the_table_and_a_stage_of_its_own(shared: Path) -> None:
    run = Analysis(run_folder.load(shared))
    table: Any = store_table(run.store_numbers)
    assert [(name, cells[0], cells[3]) for name, *cells in table.rows] == [
        (f"dd: written and flushed (ZFS ashift {at})", speed, "–")
        for at, speed in (("9", "50.0 MB/s"), ("12", "100.0 MB/s"))
    ]
    stages = {row["zfs.ashift"]: row["store_MB_per_s"] for row in run.waterfall.to_dict("records")}
    assert stages == pytest.approx({"9": 50.0, "12": 100.0})


def test_of_stores_alone_it_is_what_the_effects_say_too_and_without_stores_there_are_none(tmp_path: Path) -> None:
    run = analysis(tmp_path / "a", *shots("local"))
    assert run.effects["change_pct"].to_list() == pytest.approx(run.store_effects["change_pct"].to_list())
    assert (len(run.summary), len(run.store_numbers)) == (2, 2)
    run = analysis(tmp_path / "b", of_pool(30.0, "cp", 1, "9", protocol="nfs"))
    assert (len(run.store_effects), OF_RUN["store-effects"].words(run)) == (0, None)


FILES = 500


def tree_run(folder: Path) -> Any:
    """Six blocks of SMB and SSH, 500 files of 20 MB, in seconds that grow by block."""
    tree: dict[str, Any] = {"tool": "rsync", "direction": "write", "workload": "tree mail", "files": FILES}
    trials = [
        trial(trial_id=f"b{block:03d}-{position:04d}", case_id=f"{protocol}-rsync", block=block, position=position,
              protocol=protocol, size_bytes=20 * MB, elapsed_s=position * (1 + block / 100),
              observed={"tcp": {"data_segs_in": 4000}}, **tree)
        for block in range(1, 7) for position, protocol in enumerate(("smb", "ssh"), 1)
    ]  # fmt: skip
    return write_run(folder, trials)


def test_files_a_second_milliseconds_and_round_trips_are_those_of_the_trials(tmp_path: Path) -> None:
    rates: Any = stats.file_rates(run_folder.load(tree_run(tmp_path).path)).set_index("protocol")
    smb, ssh = rates.loc["smb"], rates.loc["ssh"]
    middle = (1 / 1.03 + 1 / 1.04) / 2
    names = ["files_per_s", "low_files_per_s", "high_files_per_s", "ms_per_file", "MB_per_s"]
    expected = [FILES * middle, FILES / 1.06, FILES / 1.01, 1000 * 1.035 / FILES, 20 * middle]
    assert smb[names].to_list() == pytest.approx(expected)
    assert (smb["n"], smb["files"], smb["round_trips_per_file"]) == (6, FILES, 8)
    assert ssh["ms_per_file"] == pytest.approx(2 * smb["ms_per_file"])
    assert pd.isna(ssh["round_trips_per_file"])
    single = Analysis(run_folder.load(write_run(tmp_path / "single").path))  # a run of single files has no such table
    assert (len(single.file_rates), OF_RUN["files"].words(single)) == (0, None)


@pytest.mark.usefixtures("empty_figures")
def test_they_are_in_every_table_of_a_run(tmp_path: Path) -> None:
    folder = tree_run(tmp_path)
    run = Analysis(run_folder.load(folder.path))
    table = tables.files(run.file_rates)
    assert table.headings[1:] == ["files/s", "95 % interval", "ms a file", "MB/s", "round trips a file", "n"]
    assert table.rows[0] == ["SMB rsync write", "483", "472 … 495", "2.07", "19.3", "8.0", "6"]
    assert "500 files a trial" in table.caption
    shown: Any = terminal.show_json(folder)
    assert [row["round_trips_per_file"] for row in shown["files"]] == [8, None]
    report = run_report.write(folder).read_text()
    assert "ms a file" in report
    assert "ms a file" in (folder.report_path / "post-appendix.md").read_text()
    csv = pd.read_csv(folder.report_path / "table.csv")
    assert csv["files_per_s"].tolist() == pytest.approx((csv["files"] / csv["elapsed_s"]).tolist())
    assert csv["ms_per_file"].tolist() == pytest.approx((1000 * csv["elapsed_s"] / csv["files"]).tolist())
    assert csv["round_trips_per_file"].dropna().tolist() == [8] * 6
