"""The way: verdicts on its window, its round trips, its ceilings and on lost time; tables of two shots of the link."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.observed_trials import BARE, FULL_LINK, MB, SIZE, a_trial, judged, links, verdict
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.report import figures, tables
from lab.results.run_folder import Trial, load
from lab.stats.link_ceilings import compare_ceilings, spreads

SMALL_BUFFERS: dict[str, Any] = FULL_LINK | {"tcp_space": 65536}
WINDOW_AND_LINK = SMALL_BUFFERS | {"tcp": {"window_bytes": 1_600_000, "rwnd_limited_ms": 9000}}
UNSEEN = WINDOW_AND_LINK | {"observed": BARE}
LOWERED = "window: 94 % of a ceiling that is itself {} % of that with other TCP buffers"


@pytest.mark.parametrize(
    ("changes", "best", "limit", "words"),
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
def test_buffers_tell_link_from_window(changes: dict[str, Any], best: float | None, limit: str, words: str) -> None:
    made = a_trial(**changes)
    rates = {65536: made.ceiling_bytes_per_s} | ({"default": best} if best else {})
    common: dict[str, Any] = {"protocol": "link", "size_bytes": SIZE}
    shots = [
        trial(**common, trial_id=f"link-{space}", case_id=f"link-{space}", tcp_space=space, elapsed_s=SIZE / rate)
        for space, rate in rates.items()
        if rate
    ]
    other = trial(**common, trial_id="read", case_id="read", direction="read", elapsed_s=SIZE / 900e6)
    row = judged(made, *shots, other).iloc[0]
    assert (row["limited_by"], words in row["evidence"]) == (limit, True), row["evidence"]


@pytest.mark.parametrize(
    ("rates", "changes", "limit", "grade"),
    [
        ((100e6, 99e6), {}, "link", "certain"),
        ((100e6,), {}, "link", "probable"),  # a ceiling that was measured once
        ((100e6, 99e6), {"server": {"process_mean": 0.9}}, "link", "probable"),  # something else is near its end, too
        ((100e6, 90e6), {}, "link", "certain"),
        ((100e6, 86e6), {}, "unclear", "unclear"),
    ],
)
def test_a_link_is_certain_if_ceilings_agree(rates: tuple[float, ...], changes: Any, limit: str, grade: str) -> None:
    row = judged(a_trial(**FULL_LINK, **changes), *links(*rates)).iloc[0]
    assert (row["limited_by"], row["grade"]) == (limit, grade), row["evidence"]
    assert ("ceilings disagree: by a factor of 1.16 between blocks" in row["evidence"]) == (limit == "unclear")


WINDOW, TRIPS = "latency × window", "protocol round trips"
WAITED = {"window_bytes": 104_000, "rwnd_limited_ms": 9000}
SENDER = {"sndbuf_limited_ms": 9000, "sndbuf": 210_000}


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        ({"tcp": WAITED | {"rwnd_limited_ms": 0}}, "unclear"),  # full, but the sender never waited for it
        ({"tcp": WAITED | {"window_bytes": 30_000}, "effective": {"server_rcvbuf": 4 * MB}}, TRIPS),
        ({"tcp": WAITED | {"window_bytes": None}, "effective": {"server_rcvbuf": 210_000}}, WINDOW),
        ({"tcp": SENDER}, WINDOW),
        ({"tcp": WAITED | {"sent_bytes": SIZE // 2, "acked_bytes": 0}}, "unclear"),  # one of two connections
        # more of the waiting was for the receiver, whose window is large by now
        ({"tcp": SENDER | {"rwnd_limited_ms": 5000, "sndbuf_limited_ms": 2000}}, TRIPS),
        ({"tcp": {"window_bytes": 104_000, "busy_ms": None}}, WINDOW),  # nothing says how long it waited
        ({"tcp": {"window_bytes": 160_000, "busy_ms": None}}, TRIPS),
        ({"files": 20_000, "elapsed_s": 2000.0}, TRIPS),  # ten round trips for each small file
        ({"server": {"process_mean": 1.7}}, TRIPS),  # several threads, none of which need have been at its end
        ({"server": {"core_mean": 1.0}}, TRIPS),  # some core was full, of something else
    ],
)
def test_what_a_window_and_round_trips_explain(changes: dict[str, Any], limit: str) -> None:
    limited_by, evidence = verdict(a_trial(**changes))
    assert limited_by == limit, evidence


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tcp": {"sent_bytes": MB, "acked_bytes": MB}}, "not observed: most of the TCP connection"),
        ({"client": {"waited_s": 4.0}}, "the client waited for a free core 40 % of the time"),
        ({"elapsed_s": 0.9, "ceiling_bytes_per_s": 900e6, "tcp": {"cwnd": 5000}}, "only 90 round trips"),
        ({"tcp": {"cwnd": 80}}, "what TCP allowed on the way may have set the pace"),
        ({"tcp": {"min_rtt_ms": 0.2}}, "a round trip of 0.2 ms is too short to explain the rate"),
        ({"ceiling_bytes_per_s": None}, "not observed: the link's ceiling"),
        ({"tcp": {"min_rtt_ms": 0.8}, "elapsed_s": 2.0}, "a round trip of 0.8 ms is too short to explain the rate"),
        ({"tcp": {"busy_ms": 4000, "cwnd": 80}}, "nothing was on the way 60 % of the time"),
        ({"elapsed_s": 0.8}, "the ceiling does not tell; link: 125 % of the ceiling, which was measured too low"),
        ({"elapsed_s": 1.6, "tcp": {"cwnd": 5000}}, "waiting for replies cannot explain most of the time; link: 62 %"),
        ({"files": 1, "elapsed_s": 2000.0}, "a round trip of 10 ms is too short to explain the rate"),
    ],
)
def test_round_trips_are_named_only_where_nothing_else_may_be_why(changes: dict[str, Any], words: str) -> None:
    limited_by, evidence = verdict(a_trial(**changes))
    assert (limited_by, words in evidence) == ("unclear", True), evidence


def test_what_is_said_of_a_window_that_is_not_why_and_of_headroom() -> None:
    limit, evidence = verdict(a_trial(tcp={"window_bytes": 250_000, "rwnd_limited_ms": 2000}))
    assert limit == "protocol round trips"
    assert evidence.endswith("; the sender waited for the window 20 % of the time")
    assert "window" not in verdict(a_trial(tcp={"min_rtt_ms": 0.01}))[1]
    assert "window: 1953 KiB per 2 ms" in verdict(a_trial(tcp={"min_rtt_ms": 2.0, "cwnd": 20}))[1]
    assert judged(a_trial()).iloc[0]["headroom"] == pytest.approx(0.9)  # of the link
    assert math.isnan(judged(a_trial(tcp={"cwnd": 80})).iloc[0]["headroom"])


# 100 MB in 2 s over a link that takes 1 s of them, in 400 requests; nothing on the way for 1 s
TCP = {"min_rtt_ms": 0.2, "busy_ms": 1000, "data_segs_in": 400}
PROMPT: dict[str, Any] = {"wire": {"before_first_byte_s": 0.02, "after_last_byte_s": 0.03}}
REQUESTS: dict[str, Any] = {"elapsed_s": 2.0, "tcp": TCP, "more": PROMPT}
LATE: dict[str, Any] = {"wire": {"before_first_byte_s": 0.6, "after_last_byte_s": 0.35}}
LESS_LATE: dict[str, Any] = {"wire": {"before_first_byte_s": 0.3, "after_last_byte_s": 0.25}}


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
        (REQUESTS | {"tcp": TCP | {"min_rtt_ms": 2.2, "busy_ms": 1900}}, "protocol round trips", "certain"),
        (REQUESTS | {"server": {"throttled_s": 0.9, "cpu_cores": 0.1}}, "server CPU", "probable"),
        ({"elapsed_s": 1.08, "tcp": {"busy_ms": 900, "data_segs_in": 400}, "more": PROMPT}, "link", "certain"),
        (REQUESTS | {"rates": (100e6, 140e6)}, "one request at a time", "probable"),  # ceilings that disagree
        # bytes were on the way for 1.9 s that the link needs 1 s for, and some of them twice
        (REQUESTS | {"tcp": TCP | {"busy_ms": 1900, "retransmits": 2000}}, "lost packets", "probable"),
        # parts that add up to 120 % of the time contradict each other
        (REQUESTS | {"elapsed_s": 1.43, "tcp": TCP | {"busy_ms": 730}}, "one request at a time", "probable"),
        # a start of 20 round trips is latency
        (REQUESTS | {"tcp": TCP | {"min_rtt_ms": 47.0, "busy_ms": 1050}, "more": LATE}, TRIPS, "certain"),
        (REQUESTS | {"elapsed_s": 4.0, "tcp": TCP | {"data_segs_in": 12207}}, "small requests", "probable"),
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


SETTING = ("write", 1500, "default", "1")


def shots(*rates_of_blocks: tuple[float, ...], **changes: Any) -> list[Trial]:
    """What iperf3 reached in each block, MB/s."""
    return [
        trial(protocol="link", tool="iperf3", trial_id=f"link{block}-{number}", case_id="link", block=block,
              size_bytes=SIZE, elapsed_s=SIZE / rate / 1e6, ceiling_bytes_per_s=None, **changes)
        for block, rates in enumerate(rates_of_blocks, 1) for number, rate in enumerate(rates)
    ]  # fmt: skip


def frame(folder: Path, *rates_of_blocks: tuple[float, ...], ceiling_shots: int = 2) -> Any:
    trials = [*shots(*rates_of_blocks), trial(trial_id="t1"), trial(trial_id="t2", block=2)]
    return load(write_run(folder, trials, ceiling_shots=ceiling_shots).path)


def test_the_table_has_the_larger_of_two_shots_and_how_low_the_other_one_was(tmp_path: Path) -> None:
    table = stats.ceilings(frame(tmp_path / "two", (100, 80), (90, 120)))
    numbers = table.iloc[0][["n", "median_MB_per_s", "min_MB_per_s", "lower_shot"]].tolist()
    assert numbers == pytest.approx([2, 110, 100, 0.75])
    text = tables.settings(table)
    assert (text.headings[-1], text.rows[0][-1]) == ("lower shot", "75 %")
    table = stats.ceilings(frame(tmp_path / "one", (100,), (120,), ceiling_shots=1))
    assert "lower_shot" not in table
    assert "lower shot" not in tables.settings(table).headings


def test_blocks_are_compared_by_their_larger_shots_and_a_run_by_all(tmp_path: Path) -> None:
    known = compare_ceilings(frame(tmp_path / "a", (100, 50), (60, 110)))[SETTING]
    assert [known["ceiling_spread"], known["lower_shot"]] == pytest.approx([1.1, 0.5])
    assert list(spreads(frame(tmp_path / "b", (100, 90), (60, 50)))) == pytest.approx([2.0, 1.2])


@pytest.mark.parametrize(
    ("rates", "grade"),
    [
        ([(100, 99)], "certain"),  # of one block, but measured twice
        ([(100, 80)], "probable"),
        ([(100, 80), (99, 100)], "probable"),
        ([(100, 99), (101, 100)], "certain"),
    ],
)
def test_a_link_is_certain_where_both_shots_agree(rates: Any, grade: str) -> None:
    row = judged(a_trial(**FULL_LINK), *shots(*rates), ceiling_shots=2).iloc[0]
    assert (row["limited_by"], row["grade"]) == ("link", grade), row["evidence"]
    disturbed = a_trial(**FULL_LINK, ceiling_bytes_per_s=55e6)  # a disturbed shot before it: the other one counts
    row = judged(disturbed, *shots((55, 100)), ceiling_shots=2).iloc[0]
    assert "link: 94 % of the ceiling" in row["evidence"]


def test_a_figure_marks_the_larger_shot_of_each_block(tmp_path: Path) -> None:
    drawn = figures.throughput(frame(tmp_path, (100, 80), (90, 120)))
    ticks = [segment[0][0] for lines in drawn.axes[0].collections for segment in getattr(lines, "get_segments", list)()]
    assert {80.0, 90.0, 100.0, 120.0} & {round(float(tick), 6) for tick in ticks} == {100.0, 120.0}
