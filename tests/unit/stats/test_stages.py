"""From the disk to the tool: what each stage carries by itself, beside what the cases came to."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.synthetic_runs import trial, write_run

from lab.report.analysis import Analysis
from lab.report.bottlenecks import stages_table
from lab.results import run_folder
from lab.results.trial import Trial
from lab.stats.stages import DISK, LINK, PROTOCOL, SERVER, STAGES, STORE, TOOL, UNFLUSHED, fastest_cases

MB = 10**6


def moved(speed: float, tool: str, name: str = "", **changes: Any) -> Trial:
    """A transfer of 100 MB at so many MB/s."""
    case = name or "-".join(map(str, (tool, *changes.values())))
    return trial(trial_id=case, case_id=case, tool=tool, size_bytes=100 * MB, elapsed_s=100 / speed,
                 **{"protocol": "smb", "store": "disk", "direction": "write", **changes})  # fmt: skip


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
    assert on_ram[[DISK, STORE, SERVER]].isna().all(axis=None)
    assert on_ram[LINK].item() == pytest.approx(110.0)
    assert read[[DISK, STORE, SERVER, LINK]].isna().all(axis=None)
    assert np.isnan(jumbo[LINK].item())
    assert jumbo[STORE].item() == pytest.approx(50.0)


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
    found = {(row["store"], row["zfs.ashift"]): (row[STORE], row[SERVER], row[LINK], row[TOOL]) for row in rows}
    assert found["zfs", "9"] == pytest.approx((30.0, 600.0, 110.0, 25.0))
    assert found["zfs", "12"] == pytest.approx((60.0, 1200.0, 110.0, 25.0))
    assert found["ext4", "–"] == pytest.approx((80.0, np.nan, 110.0, 70.0), nan_ok=True)
    assert found["disk", "–"] == pytest.approx((50.0, 2000.0, 110.0, 45.0))
    table = stages_table(run.waterfall)
    reached = {row[0]: row[-2:] for row in table.rows}
    assert reached["SMB cp write, zfs, ZFS ashift 9"] == ["store", "83 %"]
    assert reached["SMB cp write, zfs, ZFS ashift 12"] == ["store", "42 %"]


def test_an_option_of_a_tool_makes_no_other_protocol_but_one_of_a_mount_does(tmp_path: Path) -> None:
    small, large = ({"dd.bs": size} for size in ("4 KiB", "1 MiB"))
    signed, plain = ({"smb.signing": level} for level in ("true", "false"))
    run = analysis(
        tmp_path, *(moved(speed, "dd", options=options) for speed, options in ((20.0, small), (40.0, large))),
        *(moved(speed, "cp", options=options) for speed, options in ((70.0, signed), (90.0, plain))),
    )  # fmt: skip
    rows = run.waterfall.set_index("tool")
    assert rows.loc[["dd"], PROTOCOL].sort_values().to_list() == [40.0, 40.0]
    assert rows.loc[["cp"], PROTOCOL].sort_values().to_list() == [70.0, 90.0]


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
    assert failed.empty
    assert fastest_cases(failed).empty
    assert stages_table(failed).rows == []


def test_the_fastest_case_of_each_tool_on_the_store_in_the_order_of_the_other_tables(tmp_path: Path) -> None:
    cases = moved(45.0, "cp"), moved(48.0, "cp", mtu=9000)
    run = analysis(tmp_path / "a", *cases, moved(100.0, "cp", store="ram"), *STORE_AND_LINK)
    assert fastest_cases(run.waterfall)[TOOL].to_list() == pytest.approx([48.0])
    run = analysis(tmp_path / "b", moved(30.0, "cp", direction="read"), *cases)
    assert fastest_cases(run.waterfall)["direction"].to_list() == ["write", "read"]
