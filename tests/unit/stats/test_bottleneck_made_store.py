"""What the rules say of a file system that the lab made, against what that takes by itself."""

from typing import Any

import pytest
from support.bottleneck_trials import MB, SIZE, WRITTEN, a_trial, judged, verdict

from lab.report.answer_points import held_back
from lab.results.run_folder import Trial

SLOW, FAST = 10_400_000, 400_000_000  # bytes per second; each trial comes to 10 MB/s of a link of 100


def ceiling(bytes_per_s: float, counted: int = 0, **more: Any) -> dict[str, Any]:
    return {"store_ceiling_bytes_per_s": bytes_per_s, "store_ceiling_disk_bytes": counted, **more}


def on(store: str, own: float, block: int = 1, **options: str) -> Trial:
    """A write onto a store that takes so much by itself, at the levels of its options."""
    case = "-".join([store, *options.values()])
    return a_trial(trial_id=f"b{block}-{case}", case_id=case, block=block, store=store, more=ceiling(own),
                   options={f"{store}.{name}": level for name, level in options.items()})  # fmt: skip


def test_a_slow_file_system_held_a_case_back_and_a_fast_one_did_not() -> None:
    slow, fast = judged(on("ext4", SLOW), on("xfs", FAST)).to_dict("records")
    assert (slow["store"], slow["limited_by"], slow["grade"]) == ("ext4", "file system", "probable"), slow["evidence"]
    assert slow["evidence"].startswith("file system: 96 % of what the store itself takes")
    assert slow["headroom"] == pytest.approx(0.038, abs=0.001)
    assert (fast["store"], fast["limited_by"]) == ("xfs", "protocol round trips")
    assert fast["disk_share"] == pytest.approx(0.025)


def test_a_case_is_judged_by_the_ceilings_of_its_own_levels_in_their_own_blocks() -> None:
    by_block = {1: 0.95, 2: 1.0, 3: 1.05}
    slow = [on("zfs", SLOW * by, block, ashift="9") for block, by in by_block.items()]
    fast = [on("zfs", FAST * by, block, ashift="12") for block, by in by_block.items()]
    rows = judged(*slow, *fast).to_dict("records")
    found = {row["options"]["zfs.ashift"]: (row["limited_by"], row["disk_share"]) for row in rows}
    assert found["9"] == ("file system", pytest.approx(0.962, abs=0.001))
    assert found["12"] == ("protocol round trips", pytest.approx(0.025))


def test_what_the_servers_disks_wrote_meanwhile_makes_it_certain() -> None:
    known: dict[str, Any] = {"store": "btrfs", "server": WRITTEN, "more": ceiling(SLOW, SIZE)}
    row = judged(a_trial(**known)).iloc[0]
    assert (row["limited_by"], row["grade"]) == ("file system", "certain")
    little = known | {"server": {"disk_written_bytes": 3 * MB}}
    limited_by, evidence = verdict(a_trial(**little))
    assert limited_by == "protocol round trips", evidence


@pytest.mark.parametrize("effective", [{"flushed": "none"}, {"server_sync": "async"}])
def test_a_write_for_which_nobody_waited_is_not_held_back_by_it(effective: dict[str, str]) -> None:
    limited_by, evidence = verdict(a_trial(store="ext4", effective=effective, more=ceiling(SLOW)))
    assert limited_by == "protocol round trips", evidence


def test_bytes_that_a_pool_wrote_after_the_end_do_not_prove_that_a_write_waited() -> None:
    more = ceiling(SLOW, store_written_bytes=2 * SIZE)
    assert verdict(a_trial(store="zfs", effective={"flushed": "none"}, more=more))[0] != "file system"


@pytest.mark.parametrize(
    ("cache", "counted", "limit", "grade"),
    [
        ("warm", {}, "protocol round trips", "probable"),
        ("cold", {}, "file system", "probable"),
        ("cold", {"store_read_bytes": SIZE}, "file system", "certain"),
        ("warm", {"store_read_bytes": MB}, "protocol round trips", "probable"),
        ("warm", {"store_read_bytes": SIZE}, "file system", "certain"),  # it holds more than the server's memory
    ],
)
def test_a_read_is_held_back_by_it_only_where_it_came_from_its_devices(
    cache: str, counted: dict[str, int], limit: str, grade: str
) -> None:
    more = ceiling(SLOW, **counted)
    given = a_trial(store="zfs", direction="read", effective={"server_cache": cache}, more=more)
    row = judged(given).iloc[0]
    assert (row["limited_by"], row["grade"]) == (limit, grade), row["evidence"]


def test_link_and_file_system_may_take_turns_in_a_write() -> None:
    turns: dict[str, Any] = {"elapsed_s": 4.0, "tcp": {"busy_ms": 1100}}
    assert verdict(a_trial(store="ext4", more=ceiling(33e6), **turns))[0] == "flush to disk"
    limited_by, evidence = verdict(a_trial(store="ext4", more=ceiling(60e6), **turns))
    assert limited_by == "file system", evidence
    assert "nothing was on the way while it worked" in evidence


def test_one_that_was_not_measured_is_judged_as_before() -> None:
    row = judged(a_trial(store="ext4", server=WRITTEN)).iloc[0]
    assert row["limited_by"] == "protocol round trips"
    assert row["disk_share"] != row["disk_share"], "NaN"


def test_the_answer_says_what_would_help() -> None:
    held = held_back(judged(*(on("ext4", SLOW, block) for block in (1, 2, 3))))
    assert [part for point in held for part in point.parts] == [
        "file system in the one case (probable)",
        "there another file system, other options of it, or a faster disk below it would help",
    ]
