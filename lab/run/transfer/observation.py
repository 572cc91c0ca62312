"""What both hosts counted during one transfer, whether their counts agree, and what they prove."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from lab.base.errors import HostError, LabFailure
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Connection, Counters, Reading, Timing
from lab.results.observed import HostUsage, Observed, TcpFacts, WireFacts
from lab.run.case.pair import Pair
from lab.run.transfer.result import Observation
from lab.run.transfer.time_series import series
from lab.run.transfer.usage import carrier, usage

ETHERNET_HEADER = 14  # addresses and type; interfaces count neither preamble nor checksum nor gap (IEEE 802.3)
FAR_ABOVE = 1.25
PROTOCOL_SHARE = 0.005  # of a payload: 200 bytes of a file protocol's own for every 40 kB
FILE_BYTES = 16384  # for each file: opening, asking for attributes, closing
SLACK_BYTES = 2**20  # once: a request that reads ahead, and what is not asked for in the end
SWAPPED_SHARE = 0.01  # of a payload; other programs may swap a little, too
DISAGREE_SHARE, DISAGREE_BYTES = 0.01, 65536
EDGE_SHARE = 0.01  # of the payload: less may be a login, or what a tool asks for beforehand
SENDER = {"write": ("client", "server"), "read": ("server", "client")}
PAYLOAD_COUNT = {"write": "tx_bytes", "read": "rx_bytes"}  # of the client's interface
Readings = tuple[Reading, ...]


def observe(pair: Pair, case: Case, timing: Timing, server: Sequence[Counters], files: int) -> Observation:
    """What both hosts counted during a transfer that has just ended.

    ``server`` are its counts before and after; empty if nobody logs in there. Raises HostError.
    """
    samples, remarks = take_samples({role: (pair, role) for role in pair.roles})
    ends = {Role.CLIENT: timing.readings, Role.SERVER: readings_of(server)}
    readings = {role: join(ends[role], samples[role]) for role in pair.roles if len(ends[role]) == 2}
    sides = {role.value: usage(of_role, timing.elapsed_s, pair.facts[role].cores) for role, of_role in readings.items()}
    if "client" in sides:
        sides["client"] = replace(sides["client"], tool_cpu_s=timing.tool_cpu_s)
    carriers = {role.value: carrier(of_role) for role, of_role in readings.items()}
    sender, receiver = (carriers.get(role) for role in SENDER[case.direction])
    of_server = server[1].since(server[0]) if server else None
    wire = wire_facts(case, timing.counted, of_server, sender or receiver)
    before_s, after_s = payload_edges(readings.get(Role.CLIENT, ()), PAYLOAD_COUNT[case.direction], case.size_bytes)
    wire = replace(wire, before_first_byte_s=before_s, after_last_byte_s=after_s)
    remarks += [*disagreements(sides), *overhead_remark(case.size_bytes, files, wire, sender)]
    remarks += [*buffer_remarks(case, sender, receiver), *trouble(case, sides)]
    step = None
    if before_s is not None and after_s is not None:
        from lab.run.transfer import rate_step  # needs numpy: a user who waits for a run to begin does not

        count, end_s = PAYLOAD_COUNT[case.direction], timing.elapsed_s - after_s
        step = rate_step.find_step(readings, count, before_s, end_s)
        remarks += [rate_step.describe(step)] if step else []
    return Observation(
        observed=Observed(
            client=sides.get("client"), server=sides.get("server"), tcp=tcp_facts(sender, receiver), wire=wire,
            flush_s=timing.flush_s, rate_step=step, remarks=tuple(remarks),
        ),
        samples={role.value: series(of_role) for role, of_role in readings.items()},
        socket_buffers=buffers(carriers),
    )  # fmt: skip


def take_samples(hosts: Mapping[str, tuple[Pair, Role]]) -> tuple[dict[str, Readings], list[str]]:
    """The samples of each host, and why some cannot be read: a transfer is no worse for that. Raises HostError."""

    def take(host: tuple[Pair, Role]) -> tuple[Readings, str]:
        pair, role = host
        try:
            return pair.platforms[role].clock.samples(pair.interface(role)), ""
        except HostError:
            raise
        except LabFailure as error:
            return (), f"{str(error).splitlines()[0]:.200}"

    with ThreadPoolExecutor(len(hosts)) as threads:
        taken = dict(zip(hosts, threads.map(take, hosts.values()), strict=True))
    samples = {name: readings for name, (readings, _) in taken.items()}
    return samples, [problem for _, problem in taken.values() if problem]


def readings_of(counts: Sequence[Counters]) -> Readings:
    """The readings of these counts, without those that have none."""
    return tuple(counters.reading for counters in counts if counters.reading)


def join(ends: Readings, samples: Readings) -> Readings:
    """The first reading, the samples of the transfer alone, and the last reading."""
    first, last = ends
    return (first, *(sample for sample in samples if first.at_s < sample.at_s < last.at_s), last)


def tcp_facts(sender: Connection | None, receiver: Connection | None) -> TcpFacts:
    """The connection that carried the payload, as its sender saw it, and the bytes that its receiver got.

    Without the sender, only what the receiver knows of both ends alike, with the directions of the segments swapped.
    """
    if sender is not None:
        theirs = receiver.tcp if receiver else TcpFacts()
        return replace(sender.tcp, received_bytes=theirs.received_bytes, out_of_order=theirs.out_of_order)
    if receiver is None:
        return TcpFacts()
    return replace(
        receiver.tcp, congestion=None, cwnd=None, ssthresh=None, window_bytes=None, sent_bytes=None, acked_bytes=None,
        retransmits=None, delivery_bytes_per_s=None, busy_ms=None, rwnd_limited_ms=None, sndbuf_limited_ms=None,
        data_segs_in=receiver.tcp.data_segs_out, data_segs_out=receiver.tcp.data_segs_in,
    )  # fmt: skip


def buffers(carriers: Mapping[str, Connection | None]) -> dict[str, int]:
    """The sizes of the socket buffers on each host, bytes."""
    sizes = {
        f"{role}_{name}": size
        for role, carrier in carriers.items()
        if carrier
        for name, size in (("sndbuf", carrier.sndbuf), ("rcvbuf", carrier.rcvbuf))
    }
    return {name: size for name, size in sizes.items() if size is not None}


def wire_facts(case: Case, client: Counters, server: Counters | None, carrier: Connection | None) -> WireFacts:
    """The bytes on the wire against the payload, and the bytes sent against the bytes received.

    Only the counts of two hosts tell what was lost.
    """
    writes = case.direction is Direction.WRITE
    facts = WireFacts(
        overhead=round((client.tx_bytes if writes else client.rx_bytes) / case.size_bytes - 1, 5),
        least_overhead=least_overhead(carrier.tcp.mss, carrier.tcp.pmtu) if carrier else None,
    )
    if server is None:
        return facts
    source, target = (client, server) if writes else (server, client)
    return replace(
        facts, lost_bytes=source.tx_bytes - target.rx_bytes, reverse_lost_bytes=target.tx_bytes - source.rx_bytes
    )


def least_overhead(mss: int | None, mtu: int | None) -> float | None:
    """The cost of headers at the segment size in use, as a share of the payload; None if unknown.

    The MTU less the segment size is the headers of IP and TCP, options included (RFC 9293, RFC 7323). The Ethernet
    header is added.
    """
    return round((mtu - mss + ETHERNET_HEADER) / mss, 5) if mss and mtu else None


def disagreements(sides: Mapping[str, HostUsage]) -> list[str]:
    """Remarks about bytes that one host sent, and the other did not receive, or the reverse."""
    remarks = []
    for source, target in (("client", "server"), ("server", "client")):
        sent = sides[source].tx_bytes if source in sides else None
        received = sides[target].rx_bytes if target in sides else None
        if sent is None or received is None:
            continue
        if abs(sent - received) > max(DISAGREE_BYTES, DISAGREE_SHARE * sent):
            remarks.append(f"the {source} sent {sent} bytes and the {target} received {received}")
    return remarks


def overhead_remark(size_bytes: int, files: int, wire: WireFacts, sender: Connection | None) -> list[str]:
    """A remark if far more crossed the wire than the payload, its headers, and what was sent again."""
    if wire.overhead is None or wire.least_overhead is None:
        return []
    resent = (sender.tcp.retransmits or 0) * (sender.tcp.mss or 0) if sender else 0
    allowed = (FAR_ABOVE * wire.least_overhead + PROTOCOL_SHARE) * size_bytes + files * FILE_BYTES + SLACK_BYTES
    extra = wire.overhead * size_bytes - resent
    if extra <= allowed:
        return []
    return [
        f"{100 * extra / size_bytes:.1f} % more than the payload crossed the wire; "
        f"headers are {100 * wire.least_overhead:.1f} %"
    ]


def buffer_remarks(case: Case, sender: Connection | None, receiver: Connection | None) -> list[str]:
    """Which socket buffer was not as the case asked. A program that sets N gets 2 N (socket(7)), which counts as N."""
    if not isinstance(case.tcp_space, int):
        return []
    used = {"the sender's": sender and sender.sndbuf, "the receiver's": receiver and receiver.rcvbuf}
    return [
        f"{whose} socket buffer was {size} bytes, not {case.tcp_space}"
        for whose, size in used.items()
        if size is not None and size not in (case.tcp_space, 2 * case.tcp_space)
    ]


def trouble(case: Case, sides: Mapping[str, HostUsage]) -> list[str]:
    """Remarks about damaged packets, and about swapping, which may put a RAM disk on a disk."""
    remarks = []
    for role, side in sides.items():
        errors = (side.tx_errors or 0) + (side.rx_errors or 0)
        swapped = side.swapped_bytes or 0
        if errors:
            remarks.append(f"the interface of the {role} counted {errors} damaged packets")
        if swapped > SWAPPED_SHARE * case.size_bytes:
            remarks.append(f"the {role} wrote {swapped} bytes to swap: its RAM disk may have been on a disk")
    return remarks


def payload_edges(readings: Sequence[Reading], count: str, size_bytes: int) -> tuple[float | None, float | None]:
    """Seconds before the payload began to cross the interface, and after its end; None if samples do not show it.

    ``count`` is the counter of the payload's direction, ``readings`` are from right before to right after, oldest
    first. An edge lies between two samples; the rate of the next stretch shows where.
    """
    moved = [(reading.at_s, reading.net[count]) for reading in readings if count in reading.net]
    if len(moved) < 3 or moved[-1][1] - moved[0][1] < size_bytes or size_bytes <= 0:
        return None, None
    begin = _first_edge(moved, EDGE_SHARE * size_bytes) - moved[0][0]
    backwards = [(-at_s, -value) for at_s, value in reversed(moved)]
    end = _first_edge(backwards, EDGE_SHARE * size_bytes) - backwards[0][0]
    return round(begin, 3), round(end, 3)


def _first_edge(moved: Sequence[tuple[float, float]], least: float) -> float:
    """When bytes began to move, by times and bytes so far: in the stretch where ``least`` of them have moved."""
    start = moved[0][1]
    at = next(place for place, (_, value) in enumerate(moved) if value - start >= least)
    (before_s, before), (after_s, after) = moved[at - 1], moved[at]
    if at + 1 == len(moved):
        return before_s
    next_s, following = moved[at + 1]
    rate = max(following - after, 0) / (next_s - after_s) if next_s > after_s else 0.0
    return max(before_s, after_s - (after - before) / rate) if rate else before_s
