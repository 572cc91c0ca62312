"""What the sweep itself shows: another level that was faster with all else alike; others that disturbed; how sure."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.observed_trials import SIZE, a_trial, judged

from lab.results.run_folder import Trial
from lab.stats.bottleneck import remedy

SMALL, LARGE = 65536, 524288
SLOW, FAST, EVEN = (10.0, 10.1, 9.9), (40.0, 41.0, 40.5), (40.0,) * 3


def case(name: str, speeds: Sequence[float], **changes: Any) -> list[Trial]:
    """One case, in a block for each of these speeds (MB/s)."""
    return [
        a_trial(trial_id=f"b{n}-{name}", case_id=name, block=n, elapsed_s=SIZE / speed / 1e6, **changes)
        for n, speed in enumerate(speeds, 1)
    ]


def verdict_of(name: str, *cases: list[Trial], **run: Any) -> dict[str, Any]:
    rows = judged(*(made for of_case in cases for made in of_case), **run)
    (row,) = rows[rows["case_id"] == name].to_dict("records")
    return {str(name): value for name, value in row.items()}


@pytest.mark.parametrize(
    ("speeds", "limit", "grade"),
    [
        ((25.0, 26.0, 24.5), "TCP buffer", "certain"),
        ((13.2, 12.5, 12.0), "TCP buffer", "probable"),  # by 25 %, but perhaps by 15 only
        ((11.5, 11.5, 11.6), "unclear", "unclear"),  # surely by 15 %, which is as little as any limit leaves
        ((25.0, 9.0, 40.0), "unclear", "unclear"),  # faster on average, and in chance's reach
        ((25.0, 26.0), "unclear", "unclear"),  # two blocks
    ],
)
def test_a_level_that_alone_was_faster_names_its_factor(speeds: Sequence[float], limit: str, grade: str) -> None:
    slow = case("small", SLOW[: len(speeds)], tcp_space=SMALL, tcp={"min_rtt_ms": 0.2})
    fast = case("large", speeds, tcp_space=LARGE, tcp={"min_rtt_ms": 0.2})
    row = verdict_of("small", slow, fast)
    assert (row["limited_by"], row["grade"]) == (limit, grade), row["evidence"]
    if limit == "TCP buffer":
        assert row["evidence"].startswith("TCP buffer: 512 KiB in place of 64 KiB, all else alike, made it ")
        assert row["utilisation"] == pytest.approx(30 / sum(speeds), rel=0.01)
        assert remedy(limit) == "the level named in the evidence was faster"


def test_of_several_factors_the_one_that_did_most_is_named_and_the_other_said() -> None:
    both = case("both", SLOW, tcp_space=SMALL, mtu=1500)
    buffers = case("buffers", FAST, tcp_space=LARGE, mtu=1500)
    frames = case("frames", (15.0, 15.1, 14.9), tcp_space=SMALL, mtu=9000)
    row = verdict_of("both", both, buffers, frames)
    assert row["limited_by"] == "TCP buffer"
    assert "MTU: 9000 in place of 1500, all else alike, made it 50 % faster (49 to 51 %, 3 blocks)" in row["evidence"]
    far = case("far", FAST, tcp_space=LARGE, mtu=9000)  # cases that differ in two things prove neither
    assert verdict_of("both", both, far)["limited_by"] == "protocol round trips"


PLAIN: dict[str, Any] = {"options": {"placebo": "none"}, "tcp": {"min_rtt_ms": 0.2}}
QUOTA: dict[str, Any] = {"mtu": 1500, "server": {"cpu_cores": 0.15, "throttled_s": 8.3}}
JUMBO: dict[str, Any] = {"mtu": 9000, "ceiling_bytes_per_s": 133e6}
FULL = "near its limit: link: 94 % of the ceiling"


@pytest.mark.parametrize(
    ("slow", "own", "fast", "other", "limit", "grade", "words"),
    [
        (SLOW, PLAIN, FAST, {"options": {"placebo": "sugar"}}, "unclear", "unclear", ""),  # never the cause
        (SLOW, {"store": "disk"}, FAST, {"store": "ram"}, "disk", "certain", "store: ram in place of disk"),
        # which is no word on the disk below
        ((9.9, 10.0, 10.1), {"store": "btrfs"}, EVEN, {"store": "xfs"}, "store", "", "store: xfs in place of btrfs"),
        # a full processor comes before the change that relieved it
        (SLOW, QUOTA, (14.0, 14.1, 13.9), QUOTA | {"mtu": 9000}, "server CPU", "certain", "MTU: 9000 in place of 1500"),
        # a full link that other frames make faster is not the link alone
        ((94.0, 95.0, 94.5), {"mtu": 1500}, (125.0, 126.0, 127.0), JUMBO, "MTU", "", FULL),
    ],
)
def test_another_level(
    slow: Any, own: dict[str, Any], fast: Any, other: dict[str, Any], limit: str, grade: str, words: str
) -> None:
    row = verdict_of("slow", case("slow", slow, **own), case("fast", fast, **other))
    assert (row["limited_by"], grade or row["grade"]) == (limit, row["grade"]), row["evidence"]
    assert words in row["evidence"]


@pytest.mark.parametrize(
    ("waited_s", "load", "limit"),
    [
        (6.0, 2.0, "disturbed"),
        (6.0, 1.2, "disturbed"),  # not a third of the cores, but it waited longer than any does by itself
        (3.0, 2.0, "unclear"),  # waiting explains less than half of the time lost
        (2.0, 1.2, "protocol round trips"),
        (3.0, 0.5, "unclear"),  # its own programs waited for one another
        (1.0, 2.0, "protocol round trips"),  # there were cores enough for all
    ],
)
def test_other_programs_are_named_only_for_most_of_the_time_lost(waited_s: float, load: float, limit: str) -> None:
    loads = [{"block": 1, "client": 0.1, "server": load}, {"block": 2, "client": 4.0}]
    row = verdict_of("busy", case("busy", (10.0,), server={"waited_s": waited_s}), load=loads)
    assert row["limited_by"] == limit, row["evidence"]
    if limit == "disturbed":
        assert row["grade"] == "probable"
        share = f"others used {100 * load / 4:.0f} % of the cores"
        assert f"{share}, and the server waited for one {10 * waited_s:.0f} % of the time" in row["evidence"]


def test_other_programs_lower_the_grade_of_a_limit() -> None:
    server = {"waited_s": 3.0, "process_mean": 0.98}
    row = verdict_of("busy", case("busy", (10.0,), server=server), load=[{"block": 1, "client": 0.1, "server": 2.0}])
    assert (row["limited_by"], row["grade"]) == ("server CPU", "probable")
    assert row["evidence"].endswith("; others used 50 % of the cores, and the server waited for one 30 % of the time")
