"""Where the time went of a transfer that brought nothing to its limit."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.observed_trials import MB, SIZE, a_trial, judged, links

# 100 MB in 2 s over a link that takes 1 s of them, in 400 requests; nothing on the way for 1 s
TCP = {"min_rtt_ms": 0.2, "busy_ms": 1000, "data_segs_in": 400}
PROMPT: dict[str, Any] = {"wire": {"before_first_byte_s": 0.02, "after_last_byte_s": 0.03}}
REQUESTS: dict[str, Any] = {"elapsed_s": 2.0, "tcp": TCP, "more": PROMPT}
LATE: dict[str, Any] = {"wire": {"before_first_byte_s": 0.6, "after_last_byte_s": 0.35}}
LESS_LATE: dict[str, Any] = {"wire": {"before_first_byte_s": 0.3, "after_last_byte_s": 0.25}}
FAR: dict[str, Any] = {"min_rtt_ms": 2.2, "busy_ms": 1900, "data_segs_in": 400}


def row_of(rates: Sequence[float] = (100e6, 101e6), **changes: Any) -> Any:
    return judged(a_trial(**changes), *links(*rates)).iloc[0]


@pytest.mark.parametrize(
    ("changes", "limit", "grade"),
    [
        (REQUESTS, "one request at a time", "certain"),
        (REQUESTS | {"protocol": "ssh"}, "programs", "probable"),  # which streams: nobody asks for anything
        (REQUESTS | {"more": LATE}, "start-up", "certain"),
        (REQUESTS | {"more": LESS_LATE}, "start-up", "probable"),
        (REQUESTS | {"client": {"waited_s": 0.4}}, "one request at a time", "probable"),  # it was not only the reply
        (REQUESTS | {"tcp": TCP | {"busy_ms": 1900}}, "unclear", "unclear"),
        # on a longer way each request takes a round trip more, with bytes on the way
        (REQUESTS | {"tcp": FAR}, "protocol round trips", "certain"),
        (REQUESTS | {"server": {"throttled_s": 0.9, "cpu_cores": 0.1}}, "server CPU", "probable"),
        ({"elapsed_s": 1.08, "tcp": {"busy_ms": 900, "data_segs_in": 400}, "more": PROMPT}, "link", "certain"),
        (REQUESTS | {"rates": (100e6, 140e6)}, "one request at a time", "probable"),  # ceilings that disagree
        (REQUESTS | {"tcp": {"min_rtt_ms": 0.2, "busy_ms": 1000}}, "unclear", "unclear"),  # which counted no requests
    ],
)  # fmt: skip
def test_what_took_most_of_the_time_lost_is_named(changes: dict[str, Any], limit: str, grade: str) -> None:
    row = row_of(**changes)
    assert (row["limited_by"], row["grade"]) == (limit, grade), row["evidence"]


def test_the_evidence_counts_requests_and_the_headroom_is_that_of_the_link() -> None:
    row = row_of(**REQUESTS)
    assert row["headroom"] == pytest.approx(0.5, abs=0.01)
    assert "about 400 requests of 244 KiB, 5 ms each; nothing was on the way 50 % of the time" in row["evidence"]
    assert "the link by itself needs 50 % of the time" in row["evidence"]
    late = row_of(**REQUESTS | {"more": LATE})["evidence"]
    assert "0.95 of 2 s passed before the first byte and after the last one (48 %)" in late


def test_time_that_the_disk_may_have_taken_is_not_that_of_requests() -> None:
    on_disk = REQUESTS | {"store": "disk", "server": {"disk_written_bytes": SIZE}}
    known = {"store_ceiling_bytes_per_s": 180 * MB, "store_ceiling_disk_bytes": SIZE}
    for edges in (REQUESTS["more"], LATE):  # a flush waits after the last byte
        row = row_of(**on_disk | {"more": edges | known})
        assert (row["limited_by"], row["grade"]) == ("disk", "probable")
    assert row_of(**on_disk)["limited_by"] == "unclear"
