"""Verdicts on the server's store: a disk, or a file system that the lab made; and link and store taking turns."""

import math
from typing import Any

import pytest
from support.observed_trials import MB, ON_DISK, SIZE, WRITTEN, a_trial, judged

from lab.report.answer_points import held_back
from lab.results.run_folder import Trial

SLOW, FAST = 10_400_000, 400_000_000  # bytes per second; each trial comes to 10 MB/s of a link of 100
TRIPS, STORE = "protocol round trips", "file system"
LITTLE: dict[str, Any] = {"disk_written_bytes": 3 * MB}
# 100 MB in 4 s: 1 s for the link, and 3 s for the disk
TURNS: dict[str, Any] = {"elapsed_s": 4.0, "tcp": {"busy_ms": 1100}}


def store(name: str, bytes_per_s: float, counted: int = 0, **changes: Any) -> dict[str, Any]:
    """A store that takes so much by itself, and moved so many counted bytes meanwhile."""
    more = {"store_ceiling_bytes_per_s": bytes_per_s} | ({"store_ceiling_disk_bytes": counted} if counted else {})
    return {"store": name, "more": more | changes.pop("more", {}), **changes}


def read(cache: str, **more: int) -> dict[str, Any]:
    return store("zfs", SLOW, direction="read", effective={"server_cache": cache}, more=more)


@pytest.mark.parametrize(
    ("changes", "limit", "grade", "words"),
    [
        (store("disk", 10e6 / 1.8, SIZE, server=WRITTEN), TRIPS, "", ""),  # far more than the disk takes: into memory
        (store("disk", 10e6 / 0.96, SIZE, server=LITTLE), TRIPS, "", ""),  # nearly as much, but not to the disk
        (store("disk", 10e6 / 0.96), "disk", "", ""),  # its disks are not counted
        (store("disk", 10e6 / 0.5, SIZE, server=WRITTEN), TRIPS, "", ""),
        # without a known flush it is named only if it was counted
        (store("disk", SLOW, effective={"flushed": "none"}), TRIPS, "", ""),
        (store("disk", SLOW, effective={"server_sync": "async"}), TRIPS, "", ""),
        (store("disk", SLOW, effective={"flushed": "fsync", "server_sync": "async"}), TRIPS, "", ""),
        (ON_DISK | {"server": WRITTEN, "effective": {"flushed": "none"}}, "disk", "", ""),
        (ON_DISK | {"server": WRITTEN, "effective": {"server_sync": "async"}}, "disk", "", ""),
        (ON_DISK | {"server": WRITTEN, "effective": {"flushed": "fsync", "server_sync": "async"}}, "disk", "", ""),
        (store("ext4", SLOW, effective={"flushed": "none"}), TRIPS, "", ""),
        (store("ext4", SLOW, effective={"server_sync": "async"}), TRIPS, "", ""),
        # bytes that a pool wrote after the end do not prove that a write waited
        (store("zfs", SLOW, effective={"flushed": "none"}, more={"store_written_bytes": 2 * SIZE}), TRIPS, "", ""),
        (store("btrfs", SLOW, SIZE, server=WRITTEN), STORE, "certain", ""),
        (store("btrfs", SLOW, SIZE, server=LITTLE), TRIPS, "", ""),
        # a read is held back only if it came from the devices
        (read("warm"), TRIPS, "probable", ""),
        (read("cold"), STORE, "probable", ""),
        (read("cold", store_read_bytes=SIZE), STORE, "certain", ""),
        (read("warm", store_read_bytes=MB), TRIPS, "probable", ""),
        (read("warm", store_read_bytes=SIZE), STORE, "certain", ""),  # it holds more than the server's memory
        # link and store take turns
        (store("disk", 33e6, **TURNS), "flush to disk", "", "25 % of the link and 76 % of the store itself"),
        (store("disk", 33e6, **TURNS), "flush to disk", "", "nothing was on the way 72 % of the time"),
        (store("disk", 60e6, **TURNS), "disk", "probable", ""),  # there is time that neither explains
        (store("disk", 40e6, **TURNS | {"elapsed_s": 3.0}), "disk", "probable", ""),  # more time than there was
        (store("ext4", 33e6, **TURNS), "flush to disk", "", ""),
        (store("ext4", 60e6, **TURNS), STORE, "", "nothing was on the way while it worked"),
        # which needs all of the evidence
        (store("disk", 33e6, **TURNS | {"tcp": {"busy_ms": 3000}}), TRIPS, "", ""),  # bytes moved while the disk wrote
        (store("disk", 1000e6, elapsed_s=1.1, tcp={"busy_ms": 900}), "link", "", ""),
        (store("disk", 33e6, direction="read", **TURNS), TRIPS, "", ""),
        (store("disk", 33e6, SIZE, server={"disk_written_bytes": MB}, **TURNS), TRIPS, "", ""),  # nothing to the disk
    ],
)
def test_a_store_is_named_with_its_evidence(changes: dict[str, Any], limit: str, grade: str, words: str) -> None:
    row = judged(a_trial(**changes)).iloc[0]
    assert (row["limited_by"], grade or row["grade"]) == (limit, row["grade"]), row["evidence"]
    assert words in row["evidence"]


def on(name: str, own: float, block: int = 1, **options: str) -> Trial:
    """A write onto a store that takes so much by itself, at the levels of its options."""
    case = "-".join([name, *options.values()])
    levels = {f"{name}.{option}": level for option, level in options.items()}
    return a_trial(trial_id=f"b{block}-{case}", case_id=case, block=block, options=levels, **store(name, own))


def test_a_slow_file_system_held_a_case_back_and_a_fast_one_did_not() -> None:
    unknown = a_trial(store="btrfs", case_id="btrfs", trial_id="btrfs", server=WRITTEN)
    rows = judged(on("ext4", SLOW), on("xfs", FAST), unknown)
    assert rows[["store", "limited_by"]].values.tolist() == [["ext4", STORE], ["xfs", TRIPS], ["btrfs", TRIPS]]
    slow = rows.iloc[0]
    assert (slow["grade"], slow["headroom"]) == ("probable", pytest.approx(0.038, abs=0.001)), slow["evidence"]
    assert slow["evidence"].startswith("file system: 96 % of what the store itself takes")
    assert rows["disk_share"].tolist()[1:] == pytest.approx([0.025, math.nan], nan_ok=True)
    held = held_back(judged(*(on("ext4", SLOW, block) for block in (1, 2, 3))))
    assert [part for point in held for part in point.parts] == [
        "file system in the one case (probable)",
        "there another file system, other options of it, or a faster disk below it would help",
    ]


def test_a_case_is_judged_by_the_ceilings_of_its_own_levels_in_their_own_blocks() -> None:
    speeds = {"9": SLOW, "12": FAST}
    by_block = {1: 0.95, 2: 1.0, 3: 1.05}
    trials = [on("zfs", speeds[at] * by, block, ashift=at) for at in speeds for block, by in by_block.items()]
    rows = {row["options"]["zfs.ashift"]: row for row in judged(*trials).to_dict("records")}
    assert [rows[at]["limited_by"] for at in speeds] == [STORE, TRIPS]
    assert [rows[at]["disk_share"] for at in speeds] == [pytest.approx(0.962, abs=0.001), pytest.approx(0.025)]
