"""What the rules say of the way: its window, its round trips, and the link where TCP buffers lower its ceiling."""

import math
from typing import Any

import pytest
from support.observed_trials import BARE, FULL_LINK, MB, SIZE, a_trial, judged, links, verdict
from support.synthetic_runs import trial

# one of two connections
ONE_OF_TWO = {"window_bytes": 104_000, "rwnd_limited_ms": 9000, "sent_bytes": SIZE // 2, "acked_bytes": 0}


@pytest.mark.parametrize(
    ("tcp", "effective", "limit"),
    [
        ({"window_bytes": 104_000, "rwnd_limited_ms": 0}, {}, "unclear"),  # full, but the sender never waited for it
        ({"window_bytes": 30_000, "rwnd_limited_ms": 9000}, {"server_rcvbuf": 4 * MB}, "protocol round trips"),
        ({"window_bytes": None, "rwnd_limited_ms": 9000}, {"server_rcvbuf": 210_000}, "latency × window"),
        ({"sndbuf_limited_ms": 9000, "sndbuf": 210_000}, {}, "latency × window"),
        (ONE_OF_TWO, {}, "unclear"),
        # more of the waiting was for the receiver, whose window is large by now
        ({"rwnd_limited_ms": 5000, "sndbuf_limited_ms": 2000, "sndbuf": 210_000}, {}, "protocol round trips"),
        ({"window_bytes": 104_000, "busy_ms": None}, {}, "latency × window"),  # nothing says how long it waited
        ({"window_bytes": 160_000, "busy_ms": None}, {}, "protocol round trips"),
    ],
)
def test_only_a_full_and_felt_window_explains(tcp: dict[str, Any], effective: dict[str, Any], limit: str) -> None:
    limited_by, evidence = verdict(a_trial(tcp=tcp, effective=effective))
    assert limited_by == limit, evidence


SMALL_BUFFERS: dict[str, Any] = FULL_LINK | {"tcp_space": 65536}
WINDOW_AND_LINK = SMALL_BUFFERS | {"tcp": {"window_bytes": 1_600_000, "rwnd_limited_ms": 9000}}
UNSEEN = WINDOW_AND_LINK | {"observed": BARE}
LOWERED = "window: 94 % of a ceiling that is itself {} % of that with other TCP buffers"


@pytest.mark.parametrize(
    ("given", "best", "limit", "words"),
    [
        (WINDOW_AND_LINK, 102e6, "link", "link: 94 % of the ceiling"),  # the queue of a full link fills the window, too
        (WINDOW_AND_LINK, 150e6, "latency × window", "94 % of a ceiling that is itself 67 %"),
        (WINDOW_AND_LINK, None, "unclear", "link: 94 % of the ceiling, which the TCP buffers may have lowered"),
        (UNSEEN, 102e6, "link", "link: 94 % of the ceiling"),
        (UNSEEN, 115e6, "link", "link: 94 % of the ceiling"),
        (UNSEEN, 125e6, "latency × window", LOWERED.format(80)),
        (SMALL_BUFFERS, 125e6, "latency × window", "of a ceiling that is itself 80 %"),
        (UNSEEN, 400e6, "latency × window", LOWERED.format(25)),
        (UNSEEN, None, "unclear", "which the TCP buffers may have lowered"),
    ],
)
def test_buffers_tell_link_from_window(given: dict[str, Any], best: float | None, limit: str, words: str) -> None:
    made = a_trial(**given)
    rates = {65536: made.ceiling_bytes_per_s} | ({"default": best} if best else {})
    common: dict[str, Any] = {"protocol": "link", "size_bytes": SIZE}
    shots = [
        trial(**common, trial_id=f"link-{space}", case_id=f"link-{space}", tcp_space=space, elapsed_s=SIZE / rate)
        for space, rate in rates.items()
        if rate
    ]
    other = trial(**common, trial_id="read", case_id="read", direction="read", elapsed_s=SIZE / 900e6)
    row = judged(made, *shots, other).iloc[0]
    assert row["limited_by"] == limit, row["evidence"]
    assert words in row["evidence"]


@pytest.mark.parametrize(("rates", "limit"), [((100e6, 90e6), "link"), ((100e6, 86e6), "unclear"), ((100e6,), "link")])
def test_a_link_is_named_only_where_the_ceilings_of_its_blocks_agree(rates: tuple[float, ...], limit: str) -> None:
    row = judged(a_trial(**FULL_LINK), *links(*rates)).iloc[0]
    assert row["limited_by"] == limit, row["evidence"]
    assert ("ceilings disagree: by a factor of 1.16 between blocks" in row["evidence"]) == (limit == "unclear")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tcp": {"sent_bytes": MB, "acked_bytes": MB}}, "not observed: most of the TCP connection"),
        ({"client": {"waited_s": 4.0}}, "the client waited for a free core 40 % of the time"),
        ({"elapsed_s": 0.9, "ceiling_bytes_per_s": 900e6, "tcp": {"cwnd": 5000}}, "only 90 round trips"),
        ({"tcp": {"retransmits": 2000}}, "2.9 % of what was sent was sent again"),
        ({"tcp": {"cwnd": 80}}, "what TCP allowed on the way may have set the pace"),
        ({"tcp": {"min_rtt_ms": 0.2}}, "a round trip of 0.2 ms is too short to explain the rate"),
        ({"ceiling_bytes_per_s": None}, "not observed: the link's ceiling"),
        ({"tcp": {"min_rtt_ms": 0.8}, "elapsed_s": 2.0}, "a round trip of 0.8 ms is too short to explain the rate"),
        ({"tcp": {"busy_ms": 4000, "cwnd": 80}}, "nothing was on the way 60 % of the time"),
        ({"elapsed_s": 0.8}, "the ceiling does not tell; link: 125 % of the ceiling, which was measured too low"),
        ({"elapsed_s": 1.6, "tcp": {"cwnd": 5000}}, "waiting for replies cannot explain most of the time; link: 62 %"),
        ({"files": 20_000, "elapsed_s": 2000.0}, ""),  # ten round trips for each small file
        ({"files": 1, "elapsed_s": 2000.0}, "a round trip of 10 ms is too short to explain the rate"),
        ({"server": {"process_mean": 1.7}}, ""),  # several threads, none of which need have been at its end
        ({"server": {"core_mean": 1.0}}, ""),  # some core was full, of something else
    ],
)
def test_round_trips_are_named_only_where_nothing_else_may_be_why(given: dict[str, Any], words: str) -> None:
    limited_by, evidence = verdict(a_trial(**given))
    assert limited_by == ("unclear" if words else "protocol round trips"), evidence
    assert words in evidence


def test_what_is_said_of_a_window_that_is_not_why_and_of_headroom() -> None:
    limit, evidence = verdict(a_trial(tcp={"window_bytes": 250_000, "rwnd_limited_ms": 2000}))
    assert limit == "protocol round trips"
    assert evidence.endswith("; the sender waited for the window 20 % of the time")
    assert "window" not in verdict(a_trial(tcp={"min_rtt_ms": 0.01}))[1]
    assert "window: 1953 KiB per 2 ms" in verdict(a_trial(tcp={"min_rtt_ms": 2.0, "cwnd": 20}))[1]
    assert judged(a_trial()).iloc[0]["headroom"] == pytest.approx(0.9)  # of the link
    assert math.isnan(judged(a_trial(tcp={"cwnd": 80})).iloc[0]["headroom"])
