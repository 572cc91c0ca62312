"""What the rules say of a store on a disk: where it is the limit, and where link and disk take turns."""

from typing import Any

import pytest
from support.bottleneck_trials import MB, ON_DISK, SIZE, WRITTEN, a_trial, judged, verdict


@pytest.mark.parametrize(
    ("share", "server", "limit"),
    [
        (1.8, WRITTEN, "protocol round trips"),  # far more than the disk takes: into memory
        (0.96, {"disk_written_bytes": 3 * MB}, "protocol round trips"),  # nearly as much, but not to the disk
        (0.96, {}, "disk"),  # its disks are not counted
        (0.5, WRITTEN, "protocol round trips"),
    ],
)
def test_a_disk_limits_what_goes_to_the_disk(share: float, server: dict[str, Any], limit: str) -> None:
    counted = {"store_ceiling_disk_bytes": SIZE} if server else {}
    more = {"store_ceiling_bytes_per_s": 10e6 / share, **counted}
    limited_by, evidence = verdict(a_trial(store="disk", server=server, more=more))
    assert limited_by == limit, evidence


@pytest.mark.parametrize(
    "effective", [{"flushed": "none"}, {"server_sync": "async"}, {"flushed": "fsync", "server_sync": "async"}]
)
def test_a_disk_that_nobody_is_known_to_have_waited_for_is_named_only_where_it_was_counted(
    effective: dict[str, str],
) -> None:
    as_fast = {"store_ceiling_bytes_per_s": 10_400_000}
    assert verdict(a_trial(store="disk", effective=effective, more=as_fast))[0] == "protocol round trips"
    counted: dict[str, Any] = ON_DISK | {"server": WRITTEN, "effective": effective}
    assert verdict(a_trial(**counted))[0] == "disk"


# 100 MB in 4 s: 1 s for the link, and 3 s for the disk
TURNS: dict[str, Any] = {
    "elapsed_s": 4.0, "store": "disk", "more": {"store_ceiling_bytes_per_s": 33e6}, "tcp": {"busy_ms": 1100},
}  # fmt: skip


def test_link_and_disk_may_take_turns() -> None:
    limited_by, evidence = verdict(a_trial(**TURNS))
    assert limited_by == "flush to disk"
    assert "25 % of the link and 76 % of the store itself" in evidence
    assert "nothing was on the way 72 % of the time" in evidence


@pytest.mark.parametrize(
    "change",
    [
        {"more": {"store_ceiling_bytes_per_s": 60e6}},  # there is time that neither explains
        {"elapsed_s": 3.0, "more": {"store_ceiling_bytes_per_s": 40e6}},  # more time than there was
    ],
)
def test_a_disk_that_explains_most_of_what_the_link_does_not_is_probable(change: dict[str, Any]) -> None:
    row = judged(a_trial(**TURNS | change)).iloc[0]
    assert (row["limited_by"], row["grade"]) == ("disk", "probable"), row["evidence"]


@pytest.mark.parametrize(
    "change",
    [
        {"tcp": {"busy_ms": 3000}},  # bytes were on the way while the disk wrote
        {"elapsed_s": 1.1, "more": {"store_ceiling_bytes_per_s": 1000e6}, "tcp": {"busy_ms": 900}},  # the link alone
        {"direction": "read"},
        {
            "more": {"store_ceiling_bytes_per_s": 33e6, "store_ceiling_disk_bytes": SIZE},
            "server": {"disk_written_bytes": MB},
        },  # nothing went to the disk
    ],
)
def test_turns_need_all_of_the_evidence(change: dict[str, Any]) -> None:
    limited_by, evidence = verdict(a_trial(**TURNS | change))
    assert limited_by not in ("flush to disk", "disk"), evidence
