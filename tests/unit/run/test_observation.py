"""Whether both hosts' counts of a transfer agree with each other, with the payload and with the case."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.pairs import pair_of
from support.paths import LINUX_CAPTURES

from lab.base.errors import HostLost, LabFailure
from lab.design.case import Case
from lab.design.factors import Direction
from lab.platforms import Connection, Counters, Reading, Timing
from lab.platforms.linux.tcp import parse_ss
from lab.results.observed import HostUsage, TcpFacts, WireFacts
from lab.results.run_folder import RunFolder
from lab.run.case.pair import Pair
from lab.run.transfer.observation import (
    buffer_remarks,
    buffers,
    disagreements,
    not_cold,
    observe,
    overhead_remark,
    tcp_facts,
    trouble,
    wire_facts,
)

SIZE = 100 * 2**20
SS = LINUX_CAPTURES / "ss-6.15-sender.txt"


def case(direction: str = "write", tcp_space: int | str = "default", server_cache: str = "warm") -> Case:
    options = (("server_cache", server_cache),)
    return Case("smb", "cp", Direction(direction), 1500, tcp_space, "disk", "file", SIZE, options)


def carrier(sndbuf: int | None = None, rcvbuf: int | None = None, **facts: Any) -> Connection:
    return Connection("192.0.2.1:40000", "192.0.2.2:445", TcpFacts(**facts), rcvbuf, sndbuf)


FULL = {"mss": 1448, "pmtu": 1500}


def test_the_connection_is_told_as_its_sender_saw_it() -> None:
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
    found = buffers({"client": carrier(sndbuf=1, rcvbuf=2), "server": None})
    assert found == {"client_sndbuf": 1, "client_rcvbuf": 2}


@pytest.mark.parametrize(("direction", "overhead", "lost"), [("write", 0.1, 100), ("read", 0.2, -7)])
def test_the_wire_is_held_against_the_payload_in_its_direction(direction: str, overhead: float, lost: int) -> None:
    client = Counters(round(1.1 * SIZE), round(1.2 * SIZE), None, None)
    server = Counters(client.rx_bytes + (lost if direction == "read" else 5), client.tx_bytes - 100, None, None)
    facts = wire_facts(case(direction), client, server, carrier(**FULL))
    assert facts.overhead == pytest.approx(overhead)
    assert facts.lost_bytes == lost
    # 20 bytes of IP, 20 of TCP, 12 of its options, 14 of Ethernet
    assert facts.least_overhead == round(66 / 1448, 5)
    assert wire_facts(case(direction), client, server, None).least_overhead is None


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
    for least, overheads in (
        (0.04558, (0.0463, 0.0480, 0.0486)),
        (0.00738, (0.0080, 0.0099, 0.0137)),
    ):  # all as measured
        for overhead in overheads:
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
        assert buffer_remarks(case(tcp_space=65536), sender, receiver) == ([remark] if remarked else [])
        assert buffer_remarks(case(), sender, receiver) == []
    assert buffer_remarks(case(tcp_space=65536), None, None) == []


def test_a_cold_read_is_proven_by_the_servers_disks() -> None:
    cold = case("read", server_cache="cold")
    assert not_cold(cold, SIZE) == ""
    assert "its cache was not cold" in not_cold(cold, SIZE - 1)
    assert "nothing proves" in not_cold(cold, None)
    for other in (case("read"), case("write", server_cache="cold")):
        assert not_cold(other, 0) == ""


class Sampled:
    """A platform of which only samples are asked."""

    def __init__(self, outcome: tuple[Reading, ...] | LabFailure):
        self.outcome = outcome
        self.clock = self

    def samples(self, interface: str) -> tuple[Reading, ...]:
        if isinstance(self.outcome, LabFailure):
            raise self.outcome
        return self.outcome


def counters(at_s: float, tx_bytes: int, rx_bytes: int) -> Counters:
    return Counters(tx_bytes, rx_bytes, None, None, {}, Reading(at_s, {"tx_bytes": tx_bytes, "rx_bytes": rx_bytes}))


def pair(client: Any, server: Any) -> Pair:
    platforms = {"client": Sampled(client), "server": Sampled(server)}
    facts = dict.fromkeys(platforms, SimpleNamespace(cores=8))
    return pair_of(platforms=platforms, facts=facts)


FIRST, LAST = counters(10, 0, 0), counters(12, 110 * 2**20, 9)
SERVER = (counters(500, 0, 0), counters(502, 9, 110 * 2**20))


def timing(*readings: Reading | None) -> Timing:
    return Timing(2.0, LAST.since(FIRST), "monotonic", "fsync", 0.3, tuple(filter(None, readings)))


def test_samples_count_from_the_beginning_to_the_end_of_the_transfer() -> None:
    samples = tuple(Reading(at_s, {"tx_bytes": 7}) for at_s in (9.9, 10.1, 11.9, 12.1))
    found = observe(pair(samples, ()), case(), timing(FIRST.reading, LAST.reading), SERVER, 1)
    assert found.observed.client is not None
    assert found.observed.client.samples == 2
    assert cast(Any, found.samples)["client"]["at_s"] == [0, 0.1, 1.9, 2]
    assert (found.observed.tcp, found.observed.remarks, found.effective) == (TcpFacts(), (), {})
    assert len(json.dumps(found.observed.to_json())) < 1500


def test_samples_that_cannot_be_read_are_remarked_and_the_rest_stands() -> None:
    failing = pair(LabFailure("client: cat: -5 is not a count; it printed:\n    -5"), ())
    found = observe(failing, case(), timing(FIRST.reading, LAST.reading), SERVER, 1)
    assert found.observed.remarks == ("client: cat: -5 is not a count; it printed:",)
    assert found.observed.client is not None
    assert found.observed.client.tx_bytes == LAST.tx_bytes


def test_a_lost_connection_is_not_passed_over() -> None:
    with pytest.raises(HostLost):
        observe(pair((), HostLost("gone")), case(), timing(FIRST.reading, LAST.reading), SERVER, 1)


def test_a_platform_that_counts_no_more_than_bytes_is_left_out() -> None:
    plain = Counters(9, 110 * 2**20, None, None), Counters(18, 220 * 2**20, None, None)
    found = observe(pair((), ()), case("read", server_cache="cold"), timing(), plain, 1)
    assert found.observed.to_json().keys() == {"tcp", "wire", "remarks"}
    assert found.samples == {}


def test_swap_and_damaged_packets_are_remarked() -> None:
    quiet = {"client": HostUsage(swapped_bytes=SIZE // 200, rx_errors=0, tx_errors=0), "server": HostUsage()}
    assert trouble(case(), quiet) == []
    bad = {"client": HostUsage(swapped_bytes=SIZE // 50), "server": HostUsage(rx_errors=2, tx_errors=1)}
    assert trouble(case(), bad) == [
        f"the client wrote {SIZE // 50} bytes to swap: its RAM disk may have been on a disk",
        "the interface of the server counted 3 damaged packets",
    ]


def test_what_the_tool_used_is_the_clients_and_cores_are_known_anyway() -> None:
    found = observe(pair((), ()), case(), timing(FIRST.reading, LAST.reading), SERVER, 1).observed
    assert found.client is not None
    assert found.server is not None
    assert (found.client.tool_cpu_s, found.client.cores, found.server.cores) == (0.3, 8, 8)
    assert found.server.tool_cpu_s is None


def test_samples_stand_beside_the_trials_one_line_each(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "try", {})
    folder.append_samples("b001-0001", {"client": {"at_s": [0.0, 0.1]}})
    folder.append_samples("b001-0002", {})
    folder.append_samples("b001-0003", {"server": {"at_s": [0.0]}})
    lines = [json.loads(line) for line in folder.samples_path.read_text().splitlines()]
    assert [line["trial_id"] for line in lines] == ["b001-0001", "b001-0003"]
    assert lines[0]["client"] == {"at_s": [0.0, 0.1]}
    assert folder.trials() == []
