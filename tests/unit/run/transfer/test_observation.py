"""Whether both hosts' counts of a transfer agree with each other, with the payload and with the case."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pairs import UNSEEN, hosts_model, pair_of
from support.parts import case_of
from support.paths import LINUX_CAPTURES

from lab.base.errors import HostLost, LabFailure
from lab.base.present import present
from lab.hosts.hosts_file import Hosts
from lab.platforms import Connection, Counters, Reading, Timing
from lab.platforms.linux.clock import parse_ss
from lab.results.observed import HostUsage, TcpFacts, WireFacts
from lab.results.run_folder import RunFolder
from lab.run.case.pair import Pair
from lab.run.transfer.observation import (
    buffer_remarks,
    buffers,
    disagreements,
    observe,
    overhead_remark,
    payload_edges,
    tcp_facts,
    trouble,
    wire_facts,
)

SIZE = 100 * 2**20
SS = LINUX_CAPTURES / "ss-6.15-sender.txt"
PLAIN = case_of(size_bytes=SIZE)


def carrier(sndbuf: int | None = None, rcvbuf: int | None = None, **facts: Any) -> Connection:
    return Connection("192.0.2.1:40000", "192.0.2.2:445", TcpFacts(**facts), rcvbuf, sndbuf)


FULL = {"mss": 1448, "pmtu": 1500}


def test_the_facts_of_the_connection_are_its_senders() -> None:
    sender = parse_ss(SS.read_text(encoding="utf-8").splitlines())[1]
    facts = tcp_facts(replace(sender, tcp=replace(sender.tcp, age_s=0.3)), carrier(received_bytes=42))
    assert facts.to_json() == {
        "age_s": 0.3, "congestion": "bbr", "mss": 1448, "pmtu": 1500, "rtt_ms": 1.658, "min_rtt_ms": 0.002, "cwnd": 194,
        "ssthresh": 138, "window_bytes": 3855360, "sent_bytes": 239342269, "acked_bytes": 239146790, "retransmits": 0,
        "delivery_bytes_per_s": 118544572, "busy_ms": 2004, "rwnd_limited_ms": 4, "sndbuf_limited_ms": 0,
        "received_bytes": 42, "data_segs_in": 0, "data_segs_out": 165296,
    }  # fmt: skip
    assert tcp_facts(None, None) == TcpFacts()


def test_buffers_are_named_after_their_host() -> None:
    by_host = {"client": carrier(sndbuf=1, rcvbuf=2), "server": None}
    assert buffers(by_host) == {"client_sndbuf": 1, "client_rcvbuf": 2}


@pytest.mark.parametrize(("direction", "overhead", "lost"), [("write", 0.1, 100), ("read", 0.2, -7)])
def test_the_wire_is_held_against_the_payload_in_its_direction(direction: str, overhead: float, lost: int) -> None:
    client = Counters(round(1.1 * SIZE), round(1.2 * SIZE), None, None)
    server = Counters(client.rx_bytes + (lost if direction == "read" else 5), client.tx_bytes - 100, None, None)
    facts = wire_facts(case_of(direction, size_bytes=SIZE), client, server, carrier(**FULL))
    # 20 bytes of IP, 20 of TCP, 12 of its options, 14 of Ethernet
    assert (facts.lost_bytes, facts.least_overhead) == (lost, round(66 / 1448, 5))
    assert facts.overhead == pytest.approx(overhead)
    assert wire_facts(case_of(direction, size_bytes=SIZE), client, server, None).least_overhead is None


@pytest.mark.parametrize(
    ("sent", "received", "remarked"),
    [(10**9, 10**9 - 9 * 10**6, False), (10**9, 98 * 10**7, True), (1000, 60_000, False), (1000, 70_000, True)],
)
def test_counts_that_disagree_are_remarked(sent: int, received: int, remarked: bool) -> None:
    sides = {"client": HostUsage(tx_bytes=sent, rx_bytes=5), "server": HostUsage(tx_bytes=5, rx_bytes=received)}
    remarks = [f"the client sent {sent} bytes and the server received {received}"]
    assert disagreements(sides) == (remarks if remarked else [])
    assert disagreements({"client": sides["client"]}) == []


def test_what_the_protocols_add_is_no_remark() -> None:
    measured = {0.04558: (0.0463, 0.0480, 0.0486), 0.00738: (0.0080, 0.0099, 0.0137)}
    for least, overhead in ((least, overhead) for least, overheads in measured.items() for overhead in overheads):
        assert overhead_remark(SIZE, 1, WireFacts(overhead=overhead, least_overhead=least), None) == []


def test_far_more_than_that_is_remarked_unless_it_was_sent_again() -> None:
    wire = WireFacts(overhead=0.12, least_overhead=0.04558)
    remark = ["12.0 % more than the payload crossed the wire; headers are 4.6 %"]
    assert overhead_remark(SIZE, 1, wire, carrier(**FULL)) == remark
    assert overhead_remark(SIZE, 1, wire, carrier(**FULL, retransmits=round(0.06 * SIZE / 1448))) == []
    assert overhead_remark(SIZE, 10_000, wire, None) == []
    assert overhead_remark(SIZE, 1, WireFacts(overhead=0.12), None) == []


@pytest.mark.parametrize(("used", "remarked"), [(65536, False), (131072, False), (212992, True), (None, False)])
def test_other_buffers_than_asked_for_are_remarked(used: int | None, remarked: bool) -> None:
    for sender, receiver, whose in (
        (carrier(sndbuf=used), carrier(rcvbuf=65536), "sender"),
        (carrier(sndbuf=65536), carrier(rcvbuf=used), "receiver"),
    ):
        remark = f"the {whose}'s socket buffer was {used} bytes, not 65536"
        assert buffer_remarks(case_of(tcp_space=65536), sender, receiver) == ([remark] if remarked else [])
        assert buffer_remarks(case_of(), sender, receiver) == []
    assert buffer_remarks(case_of(tcp_space=65536), None, None) == []


def counters(at_s: float, tx_bytes: int, rx_bytes: int) -> Counters:
    return Counters(tx_bytes, rx_bytes, None, None, {}, Reading(at_s, {"tx_bytes": tx_bytes, "rx_bytes": rx_bytes}))


def pair(client: Any, server: Any, config: Hosts | None = None) -> Pair:
    """Hosts of 8 cores with these samples, or errors."""
    clocks = {"client": Mock(**{"samples.side_effect": [client]}), "server": Mock(**{"samples.side_effect": [server]})}
    platforms = {role: SimpleNamespace(clock=clock) for role, clock in clocks.items()}
    return pair_of(config, platforms=platforms, facts=dict.fromkeys(platforms, SimpleNamespace(cores=8)))


FIRST, LAST = counters(10, 0, 0), counters(12, 110 * 2**20, 9)
SERVER = (counters(500, 0, 0), counters(502, 9, 110 * 2**20))


def timing(*readings: Reading | None) -> Timing:
    return Timing(2.0, LAST.since(FIRST), "monotonic", "fsync", 0.3, tuple(filter(None, readings)))


def test_samples_count_from_the_beginning_to_the_end_of_the_transfer() -> None:
    samples = tuple(Reading(at_s, {"tx_bytes": 7}) for at_s in (9.9, 10.1, 11.9, 12.1))
    observation = observe(pair(samples, ()), PLAIN, timing(FIRST.reading, LAST.reading), SERVER, 1)
    assert present(observation.observed.client).samples == 2
    assert cast(Any, observation.samples)["client"]["at_s"] == [0, 0.1, 1.9, 2]
    assert (observation.observed.tcp, observation.observed.remarks, observation.socket_buffers) == (TcpFacts(), (), {})
    assert len(json.dumps(observation.observed.to_json())) < 1500


def test_samples_that_cannot_be_read_are_remarked_and_the_rest_is_kept() -> None:
    failing = pair(LabFailure("client: cat: -5 is not a count; it printed:\n    -5"), ())
    observation = observe(failing, PLAIN, timing(FIRST.reading, LAST.reading), SERVER, 1)
    assert observation.observed.remarks == ("client: cat: -5 is not a count; it printed:",)
    assert present(observation.observed.client).tx_bytes == LAST.tx_bytes


def test_a_lost_connection_is_not_passed_over() -> None:
    with pytest.raises(HostLost):
        observe(pair((), HostLost("gone")), PLAIN, timing(FIRST.reading, LAST.reading), SERVER, 1)


def test_a_platform_that_counts_no_more_than_bytes_is_left_out() -> None:
    plain = Counters(9, 110 * 2**20, None, None), Counters(18, 220 * 2**20, None, None)
    cold = case_of("read", size_bytes=SIZE, server_cache="cold")
    observation = observe(pair((), ()), cold, timing(), plain, 1)
    assert observation.observed.to_json().keys() == {"tcp", "wire", "remarks"}
    assert observation.samples == {}


def test_what_the_client_counts_is_observed_and_nothing_of_an_unseen_server_is_made_up() -> None:
    unseen = pair((), (), hosts_model(server=UNSEEN))
    observation = observe(unseen, PLAIN, timing(FIRST.reading, LAST.reading), (), 1).observed
    wire = present(observation.wire)
    assert (present(observation.client).tx_bytes, observation.server) == (LAST.tx_bytes, None)
    assert wire.overhead == pytest.approx(0.1)
    assert (wire.lost_bytes, wire.reverse_lost_bytes) == (None, None)


def test_swap_and_damaged_packets_are_remarked() -> None:
    quiet = {"client": HostUsage(swapped_bytes=SIZE // 200, rx_errors=0, tx_errors=0), "server": HostUsage()}
    assert trouble(PLAIN, quiet) == []
    bad = {"client": HostUsage(swapped_bytes=SIZE // 50), "server": HostUsage(rx_errors=2, tx_errors=1)}
    assert trouble(PLAIN, bad) == [
        f"the client wrote {SIZE // 50} bytes to swap: its RAM disk may have been on a disk",
        "the interface of the server counted 3 damaged packets",
    ]


def test_what_the_tool_used_is_the_clients_and_cores_are_known_anyway() -> None:
    observation = observe(pair((), ()), PLAIN, timing(FIRST.reading, LAST.reading), SERVER, 1).observed
    client, server = present(observation.client), present(observation.server)
    assert (client.tool_cpu_s, client.cores, server.cores, server.tool_cpu_s) == (0.3, 8, 8, None)


def test_samples_stand_beside_the_trials_one_line_each(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "try", {})
    folder.append_samples("b001-0001", {"client": {"at_s": [0.0, 0.1]}})
    folder.append_samples("b001-0002", {})
    folder.append_samples("b001-0003", {"server": {"at_s": [0.0]}})
    lines = [json.loads(line) for line in folder.samples_path.read_text().splitlines()]
    assert [line["trial_id"] for line in lines] == ["b001-0001", "b001-0003"]
    assert (lines[0]["client"], folder.trials()) == ({"at_s": [0.0, 0.1]}, [])


MOVED = 100_000_000


def sampled(moved: Callable[[float], float], end_s: float, step_s: float = 0.1) -> list[Reading]:
    """What a host would have counted, at the start, ten times a second, and at the end; its clock begins at 50 s."""
    times = [0.0, *(step_s * number for number in range(1, int(end_s / step_s - 1e-6) + 1)), end_s]
    return [Reading(50 + at_s, net={"tx_bytes": 7000 + round(moved(at_s)), "rx_bytes": 5}) for at_s in times]


@given(begin_s=st.floats(0.0, 1.5), flow_s=st.floats(0.4, 5.0), rest_s=st.floats(0.0, 1.5))
def test_edges_lie_closer_than_samples_do(begin_s: float, flow_s: float, rest_s: float) -> None:
    readings = sampled(lambda at_s: MOVED * min(1.0, max(0.0, (at_s - begin_s) / flow_s)), begin_s + flow_s + rest_s)
    assert payload_edges(readings, "tx_bytes", MOVED) == pytest.approx((begin_s, rest_s), abs=0.06)


def test_a_login_is_no_payload() -> None:
    readings = sampled(lambda at_s: MOVED * max(0.0, at_s - 1.0) + (20_000 if at_s > 0.1 else 0), 2.0)
    assert payload_edges(readings, "tx_bytes", MOVED) == pytest.approx((1.0, 0.0), abs=0.03)


@pytest.mark.parametrize(
    "readings",
    [
        [],
        [Reading(50.0, net={"tx_bytes": 0}), Reading(51.0, net={"tx_bytes": MOVED})],  # nothing in between
        [Reading(50.0), Reading(50.5), Reading(51.0)],  # no counts
        sampled(lambda at_s: MOVED / 2 * at_s, 1.0),  # half of it came from a cache
    ],
)
def test_samples_that_do_not_show_the_edges_give_none(readings: list[Reading]) -> None:
    assert payload_edges(readings, "tx_bytes", MOVED) == (None, None)
