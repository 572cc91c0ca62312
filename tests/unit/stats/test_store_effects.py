"""What one store changes against another in what was measured of it by itself, by pairs within blocks."""

from pathlib import Path
from typing import Any

import pytest
from support.synthetic_runs import trial, write_run

from lab.report.analysis import Analysis
from lab.report.bottlenecks import store_table
from lab.report.registry import OF_RUN
from lab.report.terminal import show_json
from lab.results import run_folder
from lab.results.trial import Trial

MB = 10**6
SPEEDS = {"9": (50.0, 60.0, 40.0), "12": (100.0, 121.0, 80.0)}  # in three blocks


def shot(block: int, ashift: str, number: int, protocol: str = "store", **changes: Any) -> Trial:
    """One of three shots of dd, of which the one in the middle is the block's."""
    speed = SPEEDS[ashift][block - 1] * (1.0, 0.5, 3.0)[number]
    base = {"store": "zfs", "direction": "write", "position": 0, "ceiling_bytes_per_s": None, "size_bytes": 100 * MB}
    options = {"zfs.ashift": ashift}
    return trial(trial_id=f"{block}-{ashift}-{number}-{protocol}", case_id=f"store-{ashift}", block=block, tool="dd",
                 protocol=protocol, options=options, elapsed_s=100 / speed, **base | changes)  # fmt: skip


def shots(protocol: str = "store") -> list[Trial]:
    return [shot(block, ashift, number, protocol) for block in (1, 2, 3) for ashift in SPEEDS for number in range(3)]


def moved(block: int, ashift: str, speed: float) -> Trial:
    name = f"cp-{ashift}-{block}"
    return trial(trial_id=name, case_id=f"cp-{ashift}", block=block, protocol="nfs", tool="cp", store="zfs",
                 options={"zfs.ashift": ashift}, size_bytes=100 * MB, elapsed_s=100 / speed)  # fmt: skip


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    copies = [moved(block, ashift, speed) for block in (1, 2, 3) for ashift, speed in (("9", 30.0), ("12", 33.0))]
    return write_run(tmp_path, [*copies, *shots()]).path


def test_a_level_is_compared_within_blocks_by_the_median_of_its_shots(shared: Path) -> None:
    run = Analysis(run_folder.load(shared))
    (row,) = run.store_effects.to_dict("records")
    assert (row["factor"], row["baseline"], row["level"]) == ("zfs.ashift", "9", "12")
    assert (row["tool"], row["direction"], row["n_blocks"]) == ("dd", "write", 3)
    assert row["change_pct"] == pytest.approx(100.55, abs=0.01)
    assert row["low_pct"] == pytest.approx(98.2, abs=0.1)
    assert row["established"]
    table = OF_RUN["store-effects"].words(run)
    assert table is not None
    assert [cells[:2] for cells in table.rows] == [["ZFS ashift 9 → 12:", ""], ["local dd write", "+100.6*"]]
    effects = show_json(run_folder.RunFolder(shared))["store_effects"]
    assert isinstance(effects, list)
    assert len(effects) == 1


def test_each_level_is_a_row_of_the_table_and_a_stage_of_its_own(shared: Path) -> None:
    run = Analysis(run_folder.load(shared))
    table = store_table(run.store_numbers)
    assert table is not None
    assert [(name, cells[0], cells[3]) for name, *cells in table.rows] == [
        (f"dd: written and flushed (ZFS ashift {at})", speed, "–")
        for at, speed in (("9", "50.0 MB/s"), ("12", "100.0 MB/s"))
    ]
    stages = {row["zfs.ashift"]: row["store_MB_per_s"] for row in run.waterfall.to_dict("records")}
    assert stages == pytest.approx({"9": 50.0, "12": 100.0})


def test_of_stores_alone_it_is_what_the_effects_say_too_and_without_stores_there_are_none(tmp_path: Path) -> None:
    run = Analysis(run_folder.load(write_run(tmp_path / "a", shots("local")).path))
    assert run.effects["change_pct"].to_list() == pytest.approx(run.store_effects["change_pct"].to_list())
    assert len(run.summary) == 2
    assert len(run.store_numbers) == 2
    run = Analysis(run_folder.load(write_run(tmp_path / "b", [moved(1, "9", 30.0)]).path))
    assert run.store_effects.empty
    assert OF_RUN["store-effects"].words(run) is None
