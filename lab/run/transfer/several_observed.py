"""What several clients and their server counted during one transfer, and the figures of all of them together."""

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from lab.base.errors import HostError, LabFailure
from lab.design.case import Case
from lab.hosts import Role
from lab.platforms import Counters, Reading, Timing
from lab.results.observed import HostUsage, Observed, WireFacts
from lab.results.together import ClientPart, Together
from lab.run.case.pair import Pair
from lab.run.transfer.observation import PAYLOAD_COUNT, SENDER, Observation, buffers, tcp_facts, trouble, wire_facts
from lab.run.transfer.time_series import series
from lab.run.transfer.usage import carrier, usage

Readings = tuple[Reading, ...]


@dataclass(frozen=True)
class Course:
    """One client's transfer. Times are in seconds since the first client started, wrong by ``bound_s`` at most.

    ``zero_s`` is that instant by the clock of the client's samples. ``written_by`` names the client that had written
    what it read.
    """

    pair: Pair
    timing: Timing
    started_s: float
    ended_s: float
    bound_s: float
    size_bytes: int
    zero_s: float
    written_by: str | None = None

    @property
    def name(self) -> str:
        """That of the client."""
        return self.pair.hosts[Role.CLIENT].name

    @property
    def bytes_per_s(self) -> float:
        """Its payload over its own time."""
        return self.size_bytes / (self.ended_s - self.started_s)

    def row(self) -> ClientPart:
        """As a trial records it."""
        counted = self.timing.counted
        return ClientPart(
            name=self.name, started_s=round(self.started_s, 6), ended_s=round(self.ended_s, 6),
            size_bytes=self.size_bytes, written_by=self.written_by, flush_s=self.timing.flush_s,
            clock_bound_s=round(self.bound_s, 6), tx_bytes=counted.tx_bytes, rx_bytes=counted.rx_bytes,
            cpu_s=counted.cpu_s,
        )  # fmt: skip


def observe_all(pair: Pair, case: Case, courses: Sequence[Course], server: Sequence[Counters]) -> Observation:
    """Everybody's part in a transfer that has just ended; ``pair`` is the server's with the first client, ``server``
    what that counted before and after it. Raises HostError.
    """
    sampled, remarks = _sample_all(pair, courses)
    ends = {course.name: course.timing.readings for course in courses}
    ends[Role.SERVER] = tuple(counters.reading for counters in server if counters.reading)
    readings = {name: _between(ends[name], sampled.get(name, ())) for name in ends if len(ends[name]) == 2}
    elapsed_s = max(course.ended_s for course in courses)
    sides = {role.value: _usage(pair, role, readings, courses, elapsed_s) for role in Role}
    of_sides = {name: side for name, side in sides.items() if side}
    carriers = {role.value: carrier(readings[role]) for role in Role if role in readings}
    sender, receiver = (carriers.get(role) for role in SENDER[case.direction])
    flush_s = [course.timing.flush_s for course in courses if course.timing.flush_s is not None]
    remarks += trouble(case, of_sides)
    return Observation(
        observed=Observed(
            client=sides["client"], server=sides["server"], tcp=tcp_facts(sender, receiver),
            wire=_wire(case, courses, server), together=_together(case, courses, readings),
            flush_s=max(flush_s, default=None), remarks=tuple(remarks),
        ),
        samples={name: series(of_host) for name, of_host in readings.items()},
        effective=buffers(carriers),
    )  # fmt: skip


def _usage(
    pair: Pair, role: Role, readings: Mapping[str, Readings], courses: Sequence[Course], elapsed_s: float
) -> HostUsage | None:
    """What the server, or the first client, did."""
    if role not in readings:
        return None
    if role is Role.SERVER:
        return usage(readings[role], elapsed_s, pair.facts[role].cores)
    timing = courses[0].timing
    return replace(usage(readings[role], timing.elapsed_s, pair.facts[role].cores), tool_cpu_s=timing.tool_cpu_s)


def _sample_all(pair: Pair, courses: Sequence[Course]) -> tuple[dict[str, Readings], list[str]]:
    """What each host sampled, by name, and why one cannot be read: a transfer is no worse for that."""
    of_hosts = [(course.pair, Role.CLIENT) for course in courses]
    of_hosts += [(pair, Role.SERVER)] if Role.SERVER in pair.roles else []

    def sample(of_host: tuple[Pair, Role]) -> tuple[Readings, str]:
        one, role = of_host
        try:
            return one.platforms[role].clock.samples(one.interface(role)), ""
        except HostError:
            raise
        except LabFailure as error:
            return (), f"{str(error).splitlines()[0]:.200}"

    with ThreadPoolExecutor(len(of_hosts)) as threads:
        taken = list(threads.map(sample, of_hosts))
    names = [one.hosts[role].name for one, role in of_hosts]
    return {name: readings for name, (readings, _) in zip(names, taken, strict=True)}, [
        problem for _, problem in taken if problem
    ]


def _between(ends: Readings, samples: Readings) -> Readings:
    first, last = ends
    return (first, *(sample for sample in samples if first.at_s < sample.at_s < last.at_s), last)


def _wire(case: Case, courses: Sequence[Course], server: Sequence[Counters]) -> WireFacts:
    """The bytes of all clients on the wire against all payloads, and against what the server counted."""
    sent = sum(course.timing.counted.tx_bytes for course in courses)
    received = sum(course.timing.counted.rx_bytes for course in courses)
    of_all = replace(case, size_bytes=sum(course.size_bytes for course in courses))
    moved = server[-1].since(server[0]) if server else None
    return wire_facts(of_all, Counters(sent, received, None, None, {}), moved, None)


def _together(case: Case, courses: Sequence[Course], readings: Mapping[str, Readings]) -> Together:
    """The figures of all clients."""
    starts, ends = [course.started_s for course in courses], [course.ended_s for course in courses]
    rates = [course.bytes_per_s for course in courses]
    bounds = sorted((course.bound_s for course in courses), reverse=True)
    begin, end = max(starts), min(ends)
    active_bytes = _active_bytes(case, courses, readings, begin, end) if end > begin else None
    return Together(
        clients=tuple(course.row() for course in courses),
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
    case: Case, courses: Sequence[Course], readings: Mapping[str, Readings], begin_s: float, end_s: float
) -> int | None:
    """Bytes through the interfaces of all clients between two instants; None where one was not sampled."""
    count = PAYLOAD_COUNT[case.direction]
    total = 0.0
    for course in courses:
        moved = list(_counts(readings.get(course.name, ()), count, course.zero_s))
        if len(moved) < 3:
            return None
        total += _bytes_at(moved, end_s) - _bytes_at(moved, begin_s)
    return round(total)


def _counts(readings: Readings, count: str, zero_s: float) -> Iterator[tuple[float, int]]:
    """When, in seconds since the first start, and how far an interface had counted."""
    for reading in readings:
        if count in reading.net:
            yield reading.at_s - zero_s, reading.net[count]


def _bytes_at(moved: Sequence[tuple[float, int]], at_s: float) -> float:
    """The count at an instant: between two samples bytes are taken to have moved evenly."""
    if at_s <= moved[0][0]:
        return float(moved[0][1])
    for (before_s, before), (after_s, after) in itertools.pairwise(moved):
        if before_s <= at_s <= after_s and after_s > before_s:
            return before + (after - before) * (at_s - before_s) / (after_s - before_s)
    return float(moved[-1][1])
