"""What several clients and their server counted during one transfer, and the figures of all clients together."""

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from lab.design.case import Case
from lab.hosts import Role
from lab.platforms import Counters, Timing
from lab.results.observed import Observed, WireFacts
from lab.results.together import ClientPart, Together
from lab.run.case.pair import Pair
from lab.run.transfer import observation
from lab.run.transfer.part import Part
from lab.run.transfer.result import Observation
from lab.run.transfer.time_series import series
from lab.run.transfer.usage import carrier, usage


@dataclass(frozen=True)
class ClientTransfer:
    """One client's transfer, in seconds of the controller's clock; :meth:`since` makes the first start their zero.

    The times are wrong by ``bound_s`` at most. ``zero_s`` is the zero by the clock of the client's samples. The
    client's clock moved by ``clock_moved_s`` meanwhile. ``written_by`` names the client that wrote what was read.
    """

    part: Part
    timing: Timing
    started_s: float
    ended_s: float
    bound_s: float
    zero_s: float
    clock_moved_s: float
    written_by: str | None

    @property
    def bytes_per_s(self) -> float:
        """The payload over its own time."""
        return self.part.case.size_bytes / (self.ended_s - self.started_s)

    def since(self, first_s: float) -> Self:
        """The same transfer, with its times since the first client started."""
        started_s, ended_s = self.started_s - first_s, self.ended_s - first_s
        return replace(self, started_s=started_s, ended_s=ended_s, zero_s=self.zero_s + first_s)

    def row(self) -> ClientPart:
        """The client's row in trials.jsonl."""
        counted = self.timing.counted
        return ClientPart(
            name=self.part.client.name, started_s=round(self.started_s, 6), ended_s=round(self.ended_s, 6),
            size_bytes=self.part.case.size_bytes, written_by=self.written_by, flush_s=self.timing.flush_s,
            clock_bound_s=round(self.bound_s, 6), tx_bytes=counted.tx_bytes, rx_bytes=counted.rx_bytes,
            cpu_s=counted.cpu_s,
        )  # fmt: skip


def observe_all(pair: Pair, case: Case, transfers: Sequence[ClientTransfer], server: Sequence[Counters]) -> Observation:
    """What all hosts counted during a transfer that has just ended; ``pair`` is the server with the first client.

    ``server`` are its counts before and after; empty if nobody logs in there. Raises HostError.
    """
    hosts = {transfer.part.client.name: (transfer.part.pair, Role.CLIENT) for transfer in transfers}
    ends = {transfer.part.client.name: transfer.timing.readings for transfer in transfers}
    hosts |= {Role.SERVER: (pair, Role.SERVER)} if Role.SERVER in pair.roles else {}
    ends[Role.SERVER] = observation.readings_of(server)
    samples, remarks = observation.take_samples(hosts)
    readings = {name: observation.join(ends[name], samples.get(name, ())) for name in ends if len(ends[name]) == 2}
    timing = transfers[0].timing
    elapsed_s = {Role.CLIENT: timing.elapsed_s, Role.SERVER: max(transfer.ended_s for transfer in transfers)}
    roles = [role for role in Role if role in readings]
    sides = {role.value: usage(readings[role], elapsed_s[role], pair.facts[role].cores) for role in roles}
    if "client" in sides:
        sides["client"] = replace(sides["client"], tool_cpu_s=timing.tool_cpu_s)
    carriers = {role.value: carrier(readings[role]) for role in roles}
    sender, receiver = (carriers.get(role) for role in observation.SENDER[case.direction])
    flush_s = [transfer.timing.flush_s for transfer in transfers if transfer.timing.flush_s is not None]
    remarks += observation.trouble(case, sides)
    return Observation(
        observed=Observed(
            client=sides.get("client"), server=sides.get("server"), tcp=observation.tcp_facts(sender, receiver),
            wire=_wire(case, transfers, server), together=_together(case, transfers, readings),
            flush_s=max(flush_s, default=None), remarks=tuple(remarks),
        ),
        samples={name: series(of_host) for name, of_host in readings.items()},
        socket_buffers=observation.buffers(carriers),
    )  # fmt: skip


def _wire(case: Case, transfers: Sequence[ClientTransfer], server: Sequence[Counters]) -> WireFacts:
    """The bytes of all clients on the wire against all payloads, and against what the server counted."""
    sent = sum(transfer.timing.counted.tx_bytes for transfer in transfers)
    received = sum(transfer.timing.counted.rx_bytes for transfer in transfers)
    of_all = replace(case, size_bytes=len(transfers) * case.size_bytes)
    moved = server[-1].since(server[0]) if server else None
    return observation.wire_facts(of_all, Counters(sent, received, None, None, {}), moved, None)


def _together(
    case: Case, transfers: Sequence[ClientTransfer], readings: Mapping[str, observation.Readings]
) -> Together:
    starts, ends = [transfer.started_s for transfer in transfers], [transfer.ended_s for transfer in transfers]
    rates = [transfer.bytes_per_s for transfer in transfers]
    bounds = sorted((transfer.bound_s for transfer in transfers), reverse=True)
    begin, end = max(starts), min(ends)
    count = observation.PAYLOAD_COUNT[case.direction]
    active_bytes = _active_bytes(count, transfers, readings, begin, end) if end > begin else None
    return Together(
        clients=tuple(transfer.row() for transfer in transfers),
        skew_s=round(begin - min(starts), 6), skew_bound_s=round(sum(bounds[:2]), 6),
        all_active_s=round(end - begin, 6) if end > begin else None, all_active_bytes=active_bytes,
        tail_s=round(max(ends) - end, 6),
        slowest_bytes_per_s=round(min(rates)), median_bytes_per_s=round(statistics.median(rates)),
        fastest_bytes_per_s=round(max(rates)), jain=round(jain_index(rates), 5),
    )  # fmt: skip


def jain_index(rates: Sequence[float]) -> float:
    """Jain's index of fairness: 1 where all rates are equal, 1/n where one of n has everything.

    Jain, Chiu, Hawe, "A Quantitative Measure of Fairness and Discrimination", DEC-TR-301, 1984.
    """
    return sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))


def _active_bytes(
    count: str,
    transfers: Sequence[ClientTransfer],
    readings: Mapping[str, observation.Readings],
    begin_s: float,
    end_s: float,
) -> int | None:
    """Bytes through the interfaces of all clients between two instants; None if one was not sampled."""
    total = 0.0
    for transfer in transfers:
        counts = counts_of(readings.get(transfer.part.client.name, ()), count, transfer.zero_s)
        if len(counts) < 3:
            return None
        total += bytes_at(counts, end_s) - bytes_at(counts, begin_s)
    return round(total)


def counts_of(readings: observation.Readings, count: str, zero_s: float) -> list[tuple[float, int]]:
    """The seconds since ``zero_s``, and the count, of each reading that has it."""
    return [(reading.at_s - zero_s, reading.net[count]) for reading in readings if count in reading.net]


def bytes_at(moved: Sequence[tuple[float, int]], at_s: float) -> float:
    """The count at an instant; between two samples bytes are taken to have moved evenly."""
    if at_s <= moved[0][0]:
        return float(moved[0][1])
    for (before_s, before), (after_s, after) in itertools.pairwise(moved):
        if before_s <= at_s <= after_s and after_s > before_s:
            return before + (after - before) * (at_s - before_s) / (after_s - before_s)
    return float(moved[-1][1])
