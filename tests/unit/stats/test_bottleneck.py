"""What each rule says of invented numbers, one at a time; tests/local_lab/test_verdicts.py has real ones."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.synthetic_runs import make_trials, trial, write_run
from support.trial_lines import json_values

from lab.results.run_folder import Trial, load
from lab.stats.bottleneck import NUMBERS, verdicts

MB = 10**6
KIB = 1024
SIZE = 100 * MB
IDLE_SIDE = {
    "cpu_cores": 0.3, "cores": 4, "user": 0.05, "system": 0.05, "softirq": 0.02, "iowait": 0.0, "steal": 0.0,
    "core_mean": 0.3, "core_peak": 0.6, "process": "smbd", "process_mean": 0.25, "throttled_s": 0.0, "waited_s": 0.05,
}  # fmt: skip
# one request of 100 kB in every round trip of 10 ms: 10 MB/s, of a link that carries 100
TCP = {
    "age_s": 0.0, "mss": 1448, "pmtu": 1500, "rtt_ms": 11.0, "min_rtt_ms": 10.0, "cwnd": 500, "window_bytes": 2 * MB,
    "sent_bytes": SIZE, "acked_bytes": SIZE, "retransmits": 0, "busy_ms": 9800, "rwnd_limited_ms": 0,
    "sndbuf_limited_ms": 0,
}  # fmt: skip


def a_trial(
    client: dict[str, Any] | None = None,
    server: dict[str, Any] | None = None,
    tcp: dict[str, Any] | None = None,
    more: dict[str, Any] | None = None,
    **changes: Any,
) -> Trial:
    """A write of 100 MB in 10 s over a link of 100 MB/s, with everything far from its limit, and changes."""
    observed = {
        "client": IDLE_SIDE | {"process": "cp"} | (client or {}), "server": IDLE_SIDE | (server or {}),
        "tcp": TCP | (tcp or {}), "remarks": [], **(more or {}),
    }  # fmt: skip
    base = {"size_bytes": SIZE, "elapsed_s": 10.0, "ceiling_bytes_per_s": 100e6, "observed": observed}
    return trial(**base | changes)


def judged(folder: Path, *trials: Trial, instance: str | None = None) -> pd.DataFrame:
    return verdicts(load(write_run(folder, trials, instance=instance).path))


def verdict(folder: Path, given: Trial, instance: str | None = None) -> tuple[str, str]:
    row = judged(folder, given, instance=instance).iloc[0]
    return row["limited_by"], row["evidence"]


FULL_LINK: dict[str, Any] = {"elapsed_s": SIZE / 94e6}
SMALL_WINDOW: dict[str, Any] = {
    "tcp_space": 65536,
    "elapsed_s": 10.0,
    "ceiling_bytes_per_s": 10.3e6,
    "tcp": {"window_bytes": 104_000, "rwnd_limited_ms": 9000},
}
ON_DISK = {"store": "disk", "more": {"store_ceiling_bytes_per_s": 10_400_000, "store_ceiling_disk_bytes": SIZE}}
WRITTEN = {"disk_written_bytes": SIZE, "disk_read_bytes": 0}


@pytest.mark.parametrize(
    ("given", "limit", "words"),
    [
        (FULL_LINK, "link", "link: 94% of the ceiling"),
        (SMALL_WINDOW, "latency × window", "window: 102 KiB per 10 ms is 10.4 MB/s; 96% of it was reached"),
        ({"server": {"process_mean": 0.98}}, "server CPU", "server CPU: smbd used 0.98 of one core"),
        ({"client": {"process_mean": 0.9}}, "client CPU", "client CPU: cp used 0.90 of one core"),
        ({"client": {"user": 0.6, "system": 0.35}}, "client CPU", "client CPU: 97% of its 4 cores"),
        ({"server": {"softirq": 0.25, "core_mean": 0.97}}, "server CPU", "used 0.97 of one core"),
        (
            {"server": {"cpu_cores": 0.15, "throttled_s": 8.3}},
            "server CPU",
            "server CPU: a quota kept it waiting 83% of the time; it used 0.15 of a core",
        ),
        (ON_DISK | {"server": WRITTEN}, "disk", "disk: 96% of what the store itself takes"),
        ({}, "protocol round trips", "98 KiB per round trip of 10 ms, where TCP allowed 707 KiB"),
    ],
)
def test_each_limit_is_named_with_its_evidence(tmp_path: Path, given: dict[str, Any], limit: str, words: str) -> None:
    found, evidence = verdict(tmp_path, a_trial(**given))
    assert found == limit, evidence
    assert words in evidence


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        (SMALL_WINDOW, "latency × window"),  # reached 97 % of a ceiling that the window pulled down
        (SMALL_WINDOW | {"server": {"process_mean": 0.99}}, "server CPU"),  # fuller than the window
        (FULL_LINK | {"server": {"cpu_cores": 0.2, "throttled_s": 0.9}}, "server CPU"),  # so did the quota
        ({"server": {"cpu_cores": 0.1, "throttled_s": 6.0}}, "server CPU"),  # others had the core for the rest
        (FULL_LINK | {"server": {"cpu_cores": 0.2, "throttled_s": 0.05}}, "link"),  # a quota that was hardly felt
        (FULL_LINK | {"server": {"process_mean": 0.9}}, "link"),  # both are near; the link is nearer
        (FULL_LINK | {"client": {"waited_s": 0.9}}, "link"),  # a busy machine, and yet all of the link
        (FULL_LINK | ON_DISK | {"more": {"store_ceiling_bytes_per_s": 97e6}}, "disk"),  # the disk is nearer
        (FULL_LINK | {"tcp": {"rwnd_limited_ms": 500}}, "link"),  # waited for the window, but was not bound by it
    ],
)
def test_where_several_are_near_one_has_precedence(tmp_path: Path, given: dict[str, Any], limit: str) -> None:
    found, evidence = verdict(tmp_path, a_trial(**given))
    assert found == limit, evidence


def test_what_is_near_as_well_is_said_too(tmp_path: Path) -> None:
    found = verdict(tmp_path, a_trial(**FULL_LINK, server={"process_mean": 0.9}))
    assert found == ("link", "link: 94% of the ceiling; also near: server CPU: smbd used 0.90 of one core")


@pytest.mark.parametrize(
    ("tcp", "effective", "limit"),
    [
        ({"window_bytes": 104_000, "rwnd_limited_ms": 0}, {}, "unclear"),  # full, but the sender never waited for it
        ({"window_bytes": 30_000, "rwnd_limited_ms": 9000}, {"server_rcvbuf": 4 * MB}, "protocol round trips"),
        ({"window_bytes": None, "rwnd_limited_ms": 9000}, {"server_rcvbuf": 210_000}, "latency × window"),
        ({"sndbuf_limited_ms": 9000, "sndbuf": 210_000}, {}, "latency × window"),
        (
            {"window_bytes": 104_000, "rwnd_limited_ms": 9000, "sent_bytes": SIZE // 2, "acked_bytes": 0},
            {},
            "unclear",
        ),  # one of two connections
        # more of the waiting was for the receiver, whose window is large by now
        ({"rwnd_limited_ms": 5000, "sndbuf_limited_ms": 2000, "sndbuf": 210_000}, {}, "protocol round trips"),
        ({"window_bytes": 104_000, "busy_ms": None}, {}, "latency × window"),  # nothing says how long it waited
        ({"window_bytes": 160_000, "busy_ms": None}, {}, "protocol round trips"),
    ],
)
def test_a_window_explains_the_rate_only_where_it_was_full_and_felt(
    tmp_path: Path, tcp: dict[str, Any], effective: dict[str, Any], limit: str
) -> None:
    found, evidence = verdict(tmp_path, a_trial(tcp=tcp, effective=effective))
    assert found == limit, evidence


WINDOW_AND_LINK: dict[str, Any] = FULL_LINK | {
    "tcp_space": 65536,
    "tcp": {"window_bytes": 1_600_000, "rwnd_limited_ms": 9000},
}
BARE: dict[str, Any] = {"client": {"tx_bytes": 1}, "server": IDLE_SIDE, "remarks": []}


@pytest.mark.parametrize(
    ("given", "best", "limit", "words"),
    [
        (WINDOW_AND_LINK, 102e6, "link", "link: 94% of the ceiling"),  # the queue of a full link fills the window, too
        (WINDOW_AND_LINK, 150e6, "latency × window", "window: 1562 KiB"),
        (WINDOW_AND_LINK, None, "unclear", "link: 94% of the ceiling, which the TCP buffers may have lowered"),
        (WINDOW_AND_LINK | {"observed": BARE}, 102e6, "link", "link: 94% of the ceiling"),
        (WINDOW_AND_LINK | {"observed": BARE}, 125e6, "unclear", "which the TCP buffers may have lowered"),
        (
            WINDOW_AND_LINK | {"observed": BARE},
            400e6,
            "latency × window",
            "window: 94% of a ceiling that is itself 25% of that with other TCP buffers",
        ),
        (WINDOW_AND_LINK | {"observed": BARE}, None, "unclear", "which the TCP buffers may have lowered"),
    ],
)
def test_the_ceiling_with_other_tcp_buffers_tells_link_and_window_apart(
    tmp_path: Path, given: dict[str, Any], best: float | None, limit: str, words: str
) -> None:
    made = a_trial(**given)
    rates = {65536: made.ceiling_bytes_per_s} | ({"default": best} if best else {})
    common: dict[str, Any] = {"protocol": "link", "size_bytes": SIZE}
    links = [
        trial(**common, trial_id=f"link-{space}", case_id=f"link-{space}", tcp_space=space, elapsed_s=SIZE / rate)
        for space, rate in rates.items()
        if rate
    ]
    other = trial(**common, trial_id="read", case_id="read", direction="read", elapsed_s=SIZE / 900e6)
    row = judged(tmp_path, made, *links, other).iloc[0]
    assert row["limited_by"] == limit, row["evidence"]
    assert words in row["evidence"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tcp": {"sent_bytes": MB, "acked_bytes": MB}}, "not observed: most of the TCP connection"),
        ({"client": {"waited_s": 4.0}}, "the client waited for a free core 40% of the time"),
        ({"elapsed_s": 0.9, "ceiling_bytes_per_s": 900e6, "tcp": {"cwnd": 5000}}, "only 90 round trips"),
        ({"tcp": {"retransmits": 2000}}, "2.9% of what was sent was sent again"),
        ({"tcp": {"cwnd": 80}}, "what TCP allowed on the way may have set the pace"),
        ({"tcp": {"min_rtt_ms": 0.2}}, "a round trip of 0.2 ms is too short to explain the rate"),
        ({"ceiling_bytes_per_s": None}, "not observed: the link's ceiling"),
        ({"tcp": {"min_rtt_ms": 0.8}, "elapsed_s": 2.0}, "a round trip of 0.8 ms is too short to explain the rate"),
        ({"tcp": {"busy_ms": 4000, "cwnd": 80}}, "nothing was on the way 60% of the time"),
        ({"elapsed_s": 0.8}, "the ceiling does not tell; link: 125% of the ceiling, which was measured too low"),
        ({"elapsed_s": 1.6, "tcp": {"cwnd": 5000}}, "waiting for replies cannot explain most of the time; link: 62%"),
        ({"files": 20_000, "elapsed_s": 2000.0}, ""),  # ten round trips for each small file
        ({"files": 1, "elapsed_s": 2000.0}, "a round trip of 10 ms is too short to explain the rate"),
        ({"server": {"process_mean": 1.7}}, ""),  # several threads, none of which need have been at its end
        ({"server": {"core_mean": 1.0}}, ""),  # some core was full, of something else
    ],
)
def test_round_trips_are_named_only_where_nothing_else_may_be_why(
    tmp_path: Path, given: dict[str, Any], words: str
) -> None:
    found, evidence = verdict(tmp_path, a_trial(**given))
    assert found == ("unclear" if words else "protocol round trips"), evidence
    assert words in evidence


@pytest.mark.parametrize(
    ("share", "server", "limit"),
    [
        (1.8, WRITTEN, "protocol round trips"),  # far more than the disk takes: into memory
        (0.96, {"disk_written_bytes": 3 * MB}, "protocol round trips"),  # nearly as much, but not to the disk
        (0.96, {}, "disk"),  # its disks are not counted
        (0.5, WRITTEN, "protocol round trips"),
    ],
)
def test_a_disk_limits_what_goes_to_the_disk(tmp_path: Path, share: float, server: dict[str, Any], limit: str) -> None:
    counted = {"store_ceiling_disk_bytes": SIZE} if server else {}
    more = {"store_ceiling_bytes_per_s": 10e6 / share, **counted}
    found, evidence = verdict(tmp_path, a_trial(store="disk", server=server, more=more))
    assert found == limit, evidence


@pytest.mark.parametrize(
    "effective", [{"flushed": "none"}, {"server_sync": "async"}, {"flushed": "fsync", "server_sync": "async"}]
)
def test_a_disk_that_nobody_is_known_to_have_waited_for_is_named_only_where_it_was_counted(
    tmp_path: Path, effective: dict[str, str]
) -> None:
    as_fast = {"store_ceiling_bytes_per_s": 10_400_000}
    assert verdict(tmp_path, a_trial(store="disk", effective=effective, more=as_fast))[0] == "protocol round trips"
    counted: dict[str, Any] = ON_DISK | {"server": WRITTEN, "effective": effective}
    assert verdict(tmp_path, a_trial(**counted))[0] == "disk"


# 100 MB in 4 s: 1 s for the link, and 3 s for the disk
TURNS: dict[str, Any] = {
    "elapsed_s": 4.0, "store": "disk", "more": {"store_ceiling_bytes_per_s": 33e6}, "tcp": {"busy_ms": 1100},
}  # fmt: skip


def test_link_and_disk_may_take_turns(tmp_path: Path) -> None:
    found, evidence = verdict(tmp_path, a_trial(**TURNS))
    assert found == "flush to disk"
    assert "25% of the link and 76% of the store itself" in evidence
    assert "nothing was on the way 72% of the time" in evidence


@pytest.mark.parametrize(
    "change",
    [
        {"tcp": {"busy_ms": 3000}},  # bytes were on the way while the disk wrote
        {"more": {"store_ceiling_bytes_per_s": 60e6}},  # there is time that neither explains
        {"elapsed_s": 3.0, "more": {"store_ceiling_bytes_per_s": 40e6}},  # more time than there was
        {"elapsed_s": 1.1, "more": {"store_ceiling_bytes_per_s": 1000e6}, "tcp": {"busy_ms": 900}},  # the link alone
        {"direction": "read"},
        {
            "more": {"store_ceiling_bytes_per_s": 33e6, "store_ceiling_disk_bytes": SIZE},
            "server": {"disk_written_bytes": MB},
        },  # nothing went to the disk
    ],
)
def test_turns_need_all_of_the_evidence(tmp_path: Path, change: dict[str, Any]) -> None:
    found, evidence = verdict(tmp_path, a_trial(**TURNS | change))
    assert found not in ("flush to disk", "disk"), evidence


SHARING = {"cores": 2, "user": 0.6, "system": 0.38, "softirq": 0.0, "core_mean": 0.99, "waited_s": 0.1}


@pytest.mark.parametrize(
    ("client", "server", "limit", "words"),
    [
        (1.4, 0.5, "client CPU", "client CPU: 1.40 of 2 cores, 98% busy, which it shares with the server"),
        (0.4, 1.5, "server CPU", "server CPU: 1.50 of 2 cores"),
        (1.0, 0.9, "protocol round trips", ""),  # neither host by itself
        (0.5, 0.2, "protocol round trips", ""),  # others filled the machine
    ],
)
def test_on_a_shared_machine_a_host_answers_for_its_own_group_only(
    tmp_path: Path, client: float, server: float, limit: str, words: str
) -> None:
    sides = {"client": SHARING | {"cpu_cores": client}, "server": SHARING | {"cpu_cores": server}}
    found, evidence = verdict(tmp_path, a_trial(**sides), instance="here/1")
    assert found == limit, evidence
    assert words in evidence


def test_what_was_not_observed_is_said(tmp_path: Path) -> None:
    old = trial(**FULL_LINK | {"size_bytes": SIZE, "ceiling_bytes_per_s": 100e6})
    assert verdict(tmp_path, old) == ("unclear", "not observed; link: 94% of the ceiling")
    mac = trial(size_bytes=SIZE, elapsed_s=10.0, ceiling_bytes_per_s=100e6, observed=BARE)
    found, evidence = verdict(tmp_path, mac)
    assert found == "unclear"
    assert evidence.startswith("not observed: the client's CPU, most of the TCP connection; ")
    full = trial(**FULL_LINK | {"size_bytes": SIZE, "ceiling_bytes_per_s": 100e6, "observed": BARE})
    assert verdict(tmp_path, full)[0] == "link"


def test_a_case_is_judged_by_the_medians_of_the_trials_that_count(tmp_path: Path) -> None:
    speeds = [94e6, 93e6, 20e6]
    good = [a_trial(trial_id=f"b{n}", block=n, elapsed_s=SIZE / speed) for n, speed in enumerate(speeds, 1)]
    others = [
        a_trial(trial_id="void", status="void", reason="cached"),
        a_trial(trial_id="anchor", anchor=True),
        a_trial(trial_id="link", protocol="link", case_id="link-write"),
        a_trial(trial_id="store", protocol="store", case_id="store-write"),
        a_trial(trial_id="failed", case_id="other", status="failed", reason="stuck", elapsed_s=None),
    ]
    found = judged(tmp_path, *good, *others)
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["n"], row["limited_by"], row["case_id"]) == (3, "link", "afp-cp-write")
    assert row["bytes_per_s"] == pytest.approx(93e6)
    assert (row["utilisation"], row["headroom"]) == (pytest.approx(0.93), pytest.approx(0.07))


def test_waiting_for_the_window_is_said_where_it_is_not_why(tmp_path: Path) -> None:
    limit, evidence = verdict(tmp_path, a_trial(tcp={"window_bytes": 250_000, "rwnd_limited_ms": 2000}))
    assert limit == "protocol round trips"
    assert evidence.endswith("; the sender waited for the window 20% of the time")


def test_a_window_that_was_next_to_empty_is_not_worth_a_word(tmp_path: Path) -> None:
    assert "window" not in verdict(tmp_path, a_trial(tcp={"min_rtt_ms": 0.01}))[1]
    assert "window: 1953 KiB per 2 ms" in verdict(tmp_path, a_trial(tcp={"min_rtt_ms": 2.0, "cwnd": 20}))[1]


def test_headroom_of_round_trips_is_that_of_the_link_and_unclear_has_none(tmp_path: Path) -> None:
    assert judged(tmp_path, a_trial()).iloc[0]["headroom"] == pytest.approx(0.9)
    assert math.isnan(judged(tmp_path, a_trial(tcp={"cwnd": 80})).iloc[0]["headroom"])


def test_a_whole_run_and_one_without_trials(tmp_path: Path) -> None:
    whole = verdicts(load(write_run(tmp_path, make_trials(blocks=1)).path))
    assert set(whole["limited_by"]) == {"unclear"}
    empty = verdicts(load(write_run(tmp_path, []).path))
    assert len(empty) == 0
    assert list(empty.columns) == list(whole.columns)
    assert set(NUMBERS) <= set(empty.columns)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=st.dictionaries(st.sampled_from([*IDLE_SIDE, *TCP]), json_values), other=json_values)
def test_whatever_stands_in_a_file_gets_some_verdict(tmp_path: Path, part: dict[str, Any], other: Any) -> None:
    observed = {"client": part, "server": other, "tcp": part, "store_ceiling_bytes_per_s": other}
    for instance in (None, "here/1"):
        found = judged(tmp_path, trial(observed=observed, store="disk"), instance=instance)
        assert isinstance(found.iloc[0]["evidence"], str)
