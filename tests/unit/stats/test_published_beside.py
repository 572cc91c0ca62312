"""Published figures: which of their percentages are wrong, and which of one's own numbers stand beside them."""

import math
from pathlib import Path
from typing import Any

import pytest
from support.paths import LINUX_CAPTURES
from support.synthetic_runs import trial, write_run

from lab.base.errors import BadInput
from lab.report.published import published_json, published_tables, tables_beside
from lab.results import run_folder
from lab.results.observed import Observed
from lab.results.published import read_published
from lab.results.trial import Trial
from lab.stats import encode
from lab.stats.recomputed import Own, beside, recompute
from lab.workloads.bonnie import parse_report as parse_bonnie

MIB = 2**20
FIGURES = read_published()


def shot(block: int, raid: str, vdevs: str, ashift: str, mib_per_s: float, disks: str = "files") -> Trial:
    """A shot of dd whose levels were read back, not asked for."""
    name = f"{block}-{raid}-{vdevs}-{ashift}-{disks}"
    levels = {"zfs.raid": raid, "zfs.vdevs": vdevs, "zfs.ashift": ashift, "zfs.compression": "on", "zfs.disks": disks}
    dd = {"protocol": "local", "tool": "dd", "direction": "write", "store": "zfs", "ceiling_bytes_per_s": None}
    timed = {"block": block, "size_bytes": 100 * MIB, "elapsed_s": 100 / mib_per_s, "effective": levels}
    return trial(trial_id=name, case_id=name, **timed | dd)


def moved(block: int, mtu: int, speed: float, store: str = "ram") -> Trial:
    name = f"afp-{block}-{mtu}-{store}"
    return trial(trial_id=name, case_id=name, block=block, protocol="afp", tool="cp", direction="write", mtu=mtu,
                 store=store, size_bytes=100_000_000, elapsed_s=100 / speed)  # fmt: skip


def of_run(tmp_path: Path, *trials: Trial) -> dict[tuple[str, float], Own]:
    """What a run of these trials has, by the table and the value of the figure that it stands beside."""
    encoded = encode(run_folder.load(write_run(tmp_path, trials).path))
    pairs = zip(FIGURES, beside(FIGURES, encoded), strict=True)
    return {(figure.table, figure.value): own for figure, own in pairs if own}


def test_every_printed_change_has_its_baseline_and_just_the_eight_on_the_page_are_wrong() -> None:
    recomputed = recompute(FIGURES)
    assert all(not math.isnan(entry.change_pct) for entry in recomputed if entry.figure.change_pct is not None)
    assert {(entry.figure.value, round(entry.change_pct, 2)) for entry in recomputed if entry.is_slip} == {
        (90.5, 3.31), (81.1, 0.5), (57.37, 18.78), (63.99, 9.65), (36.71, -36.01), (41.5, -35.15), (72.99, 14.06),
        (25.02, -56.39),
    }  # fmt: skip


def test_bonnie_of_the_same_post_contradicts_the_faster_kernel() -> None:
    changes = {
        entry.figure.settings["operation"]: entry.change_pct
        for entry in recompute(FIGURES)
        if entry.figure.table.startswith("bonnie++ 1.03d") and entry.figure.baseline
    }
    blocks = [changes["seq output block"], changes["seq input block"]]
    assert blocks == pytest.approx([-1.77, -0.52], abs=0.01)
    assert changes["seq stat"] == pytest.approx(-62.9, abs=0.1)


def test_a_pool_stands_beside_the_figure_of_its_raid_level_files_and_sectors(tmp_path: Path) -> None:
    own = of_run(tmp_path, *(
        shot(block, "raidz2", "5", ashift, speed * (1 + block / 100))
        for block in range(1, 7) for ashift, speed in (("9", 20.0), ("12", 30.0))
    ), shot(1, "raidz2", "3", "12", 10.0))  # fmt: skip
    nine, twelve = own["zfs-3", 12.03], own["zfs-3", 92.4]
    assert [nine.median / MIB, nine.change_pct, twelve.change_pct] == pytest.approx([20.7, math.nan, 50], nan_ok=True)
    assert nine.low < nine.median < nine.high
    assert "files of one disk for disks" in twelve.differs
    assert not any(name == "zfs-2" for name, _ in own)  # raidz
    kernel = own["kernel", 84.8]  # raidz2, of no stated number of disks
    assert (nine.n_blocks, own["zfs-3", 58.65].n_blocks, kernel.n_blocks) == (6, 1, 6)
    assert ("zfs-6", 92.4) in own
    assert ("zfs-6", 90.98) not in own  # a partition


def test_disks_of_ones_own_stand_beside_disks_and_partitions_of_them_beside_partitions(tmp_path: Path) -> None:
    own = of_run(tmp_path, *(
        shot(block, "raidz2", "5", "12", speed * (1 + block / 100), disks)
        for block in range(1, 7) for disks, speed in (("named", 100.0), ("partitions", 90.0))
    ))  # fmt: skip
    whole, partition = own["zfs-6", 92.4], own["zfs-6", 90.98]
    assert [whole.median / MIB, partition.change_pct] == pytest.approx([103.5, -10])
    assert whole.differs == partition.differs == ()
    assert ("zfs-6", 87.88) not in own  # a smaller partition
    own = of_run(tmp_path, shot(1, "stripe", "1", "12", 50.0))  # of one: the single disk
    assert {value for name, value in own if name == "zfs-1"} == {81.85, 67.54, 71.05}


REPORT = parse_bonnie((LINUX_CAPTURES / "bonnie-64M-16.txt").read_text(), cached=True)


def bonnie(store: str, **effective: str) -> Trial:
    same: dict[str, Any] = {"protocol": "store", "tool": "bonnie++", "case_id": "bonnie", "direction": "write"}
    observed = Observed(bonnie=REPORT).to_json()
    levels = {name if name == "flushed" else f"zfs.{name}": level for name, level in effective.items()}
    return trial(trial_id=store, store=store, effective=levels, elapsed_s=9.0, observed=observed, **same)


def test_bonnie_stands_beside_hfs_o3x_or_that_of_2011_by_its_store_and_flush(tmp_path: Path) -> None:
    pool = bonnie("zfs", raid="raidz", vdevs="3", ashift="12", compression="lz4")
    own = of_run(tmp_path, pool, bonnie("disk"))
    of_pool, of_disk = own["bonnie++ 1.97 999M -b", 150.0], own["bonnie++ 1.97 999M -b", 889.0]
    assert REPORT.write_char
    assert [of_pool.median, of_disk.median] == pytest.approx([REPORT.write_char.bytes_per_s] * 2)
    assert "the server's disk for HFS+" in of_disk.differs
    assert own["bonnie++ 1.97 999M -b", 91.0].median > 91
    assert "small files flushed only there (-b)" in of_pool.differs
    assert not any(name.startswith("bonnie++ 1.03d") for name, _ in own)  # of a raidz2
    own = of_run(tmp_path, bonnie("zfs", raid="raidz2", vdevs="5", ashift="12", compression="on", flushed="fsync"))
    assert own["bonnie++ 1.03d 300M", 7718.0].differs == (
        "files of one disk for disks", "one kernel for two: `lab compare` sets two runs side by side",
        "small files flushed only here (-b)",
    )  # fmt: skip
    assert not any(name.startswith("bonnie++ 1.97") for name, _ in own)


def test_a_share_stands_beside_the_figure_of_its_network(tmp_path: Path) -> None:
    shares = [moved(block, mtu, speed) for block in (1, 2, 3) for mtu, speed in ((1500, 80.0), (9000, 88.0))]
    own = of_run(tmp_path, *shares, moved(1, 1500, 20.0, store="disk"))
    assert own["network-2-table-1", 87.6].median == pytest.approx(80e6)  # from memory to memory, not the disk
    assert own["network-2-table-1", 90.5].change_pct == pytest.approx(10.0)
    differs = own["network-2-table-2", 48.3].differs
    assert {"store disk, ram for raidz2", "mtu 1500, 9000, not stated there"} <= {*differs}
    assert not any(name == "network-3" for name, _ in own)  # which had other TCP buffers


def test_the_tables_say_what_is_wrong_and_what_differs(tmp_path: Path) -> None:
    trials = encode(run_folder.load(write_run(tmp_path, [shot(1, "raidz2", "5", "12", 30.0)]).path))
    recomputed, own = recompute(FIGURES), beside(FIGURES, trials)
    (swapped,) = [table for table in published_tables(recomputed) if table.caption.startswith("network-2-table-1")]
    assert swapped.rows[1][1:] == ["90.5 MB/s", "+0.53", "+3.3 WRONG"]
    of_run = {table.caption.split(" ")[0]: table for table in tables_beside(recomputed, own, {"hosts": {}})}
    assert set(of_run) == {"kernel", "zfs-3", "zfs-5", "zfs-6"}
    assert "10000 MiB of zeros" in of_run["zfs-3"].caption
    assert "other hardware; files of one disk for disks. 11 more figures" in of_run["zfs-3"].caption
    assert of_run["zfs-3"].rows[0][3] == "31.5 MB/s"
    place = [(figure.table, figure.value) for figure in FIGURES].index(("zfs-3", 92.4))
    record: Any = published_json(recomputed, own)[place]
    assert (record["own"]["median"], record["own"]["low"]) == (pytest.approx(30 * MIB), None)


def test_a_file_that_is_none_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "figures.csv"
    path.write_text("source,table\nsomebody,one\n")
    with pytest.raises(BadInput, match=r"figures\.csv: line 2: no published figure"):
        read_published(path)
