"""What one host did during a transfer: from what stood before it, what was sampled meanwhile, and what stood after it.

Averages come from the first and the last reading alone, so they are exact; only peaks rest on samples. What a host
does not count is left out.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from lab.platforms import ALL_CORES, Connection, Reading, Ticks
from lab.platforms.readings import ticks_spent
from lab.results.observed import HostUsage, TcpFacts

CountT = TypeVar("CountT", int, float)
PEAK_S = 0.5  # a peak is the mean of at least so long: the kernel counts a core's time in steps of 0.01 s
SHARES = {
    "user": ("user", "nice"),
    "system": ("system",),
    "softirq": ("irq", "softirq"),
    "iowait": ("iowait",),
    "steal": ("steal",),
}
# Fields of a connection that grow as long as it lives
GROWING = ("sent_bytes", "acked_bytes", "received_bytes", "retransmits", "data_segs_in", "data_segs_out", "busy_ms",
           "rwnd_limited_ms", "sndbuf_limited_ms")  # fmt: skip


def usage(readings: Sequence[Reading], elapsed_s: float, cores: int) -> HostUsage:
    """What a host with so many cores did between readings, two or more, oldest first. A host may not count its cores
    one by one, and in a hundredth of a second no core may show any work.
    """
    memory = [reading.available_bytes for reading in readings if reading.available_bytes is not None]
    before, after = readings[0].swapped_bytes, readings[-1].swapped_bytes
    counted = HostUsage(
        cores=cores,
        memory_least_bytes=min(memory, default=None),
        swapped_bytes=after - before if before is not None and after is not None and after >= before else None,
        samples=len(readings) - 2,
    )
    return _add_disks(_add_network(_add_cpu(counted, readings, elapsed_s), readings, elapsed_s), readings, elapsed_s)


def _add_cpu(counted: HostUsage, readings: Sequence[Reading], elapsed_s: float) -> HostUsage:
    group = _grown(readings[0].group, readings[-1].group)
    seconds = {name: round(group[name], 3) if name in group else None for name in ("throttled_s", "waited_s")}
    name, process_mean = _busiest(readings, elapsed_s) or (None, None)
    counted = replace(
        counted,
        cpu_cores=round(group["usage_s"] / elapsed_s, 3) if "usage_s" in group else None,
        link_cores=round(group["link_s"] / elapsed_s, 3) if "link_s" in group else None,
        throttled_s=seconds["throttled_s"], waited_s=seconds["waited_s"], process=name, process_mean=process_mean,
    )  # fmt: skip
    counting = [reading for reading in readings if reading.cores]
    spent = ticks_spent(counting[0].cores, counting[-1].cores) if counting else {}
    if not (shares := core_shares(spent)):
        return counted
    counted = replace(
        counted, user=shares["user"], system=shares["system"], softirq=shares["softirq"], iowait=shares["iowait"],
        steal=shares["steal"],
    )  # fmt: skip
    if ALL_CORES in spent:
        return counted
    mean = max(map(busy_share, spent.values()))
    peaks = [
        busy_share(core)
        for begin, end in _spans(readings, lambda reading: bool(reading.cores))
        for core in ticks_spent(begin.cores, end.cores).values()
    ]
    return replace(counted, cores=len(spent), core_mean=mean, core_peak=max([*peaks, mean]))


def _grown(before: Mapping[str, CountT], after: Mapping[str, CountT]) -> dict[str, CountT]:
    """How far each count grew; one that began again is left out."""
    return {name: after[name] - value for name, value in before.items() if name in after and after[name] >= value}


def core_shares(spent: Mapping[str, Ticks]) -> dict[str, float]:
    """What the time of all cores together went to, as shares of it; empty where none is known."""
    total = sum(map(sum, spent.values()))
    return {
        name: round(sum(getattr(core, kind) for core in spent.values() for kind in kinds) / total, 3)
        for name, kinds in SHARES.items()
        if total
    }


def busy_share(core: Ticks) -> float:
    """The share of its time that a core was not free to do more: stolen time counts, waiting for a disk does not."""
    total = sum(core)
    return round(1 - (core.idle + core.iowait) / total, 3) if total else 0.0


def _spans(readings: Sequence[Reading], fits: Callable[[Reading], bool]) -> Iterator[tuple[Reading, Reading]]:
    """Beginning and end of each stretch of at least PEAK_S, and hardly more; none where all is shorter."""
    fitting = [reading for reading in readings if fits(reading)]
    begin = 0
    for end in range(1, len(fitting)):
        while begin + 1 < end and fitting[end].at_s - fitting[begin + 1].at_s >= PEAK_S:
            begin += 1
        if fitting[end].at_s - fitting[begin].at_s >= PEAK_S:
            yield fitting[begin], fitting[end]


def _busiest(readings: Sequence[Reading], elapsed_s: float) -> tuple[str, float] | None:
    """The process that used most CPU time, and how many cores that was while it was seen.

    One that ended early was seen for the last time in a sample, so its last moments are missing in both.
    """
    before = readings[0]
    last = {key: (process, reading.at_s) for reading in readings for key, process in reading.processes.items()}
    used = {
        key: (process.cpu_s - (before.processes[key].cpu_s if key in before.processes else 0.0), process.name, at_s)
        for key, (process, at_s) in last.items()
    }
    cpu_s, name, at_s = max(used.values(), default=(0.0, "", 0.0))
    seen_s = min(at_s - before.at_s, elapsed_s)
    return (name, round(cpu_s / seen_s, 3)) if cpu_s > 0 and seen_s > 0 else None


def _add_network(counted: HostUsage, readings: Sequence[Reading], elapsed_s: float) -> HostUsage:
    """Bytes each way; the peak is of the busier way, and no less than the mean."""
    total = _grown(_bytes(readings[0]), _bytes(readings[-1]))
    if not total:
        return counted
    errors = _grown(_errors(readings[0]), _errors(readings[-1]))
    peaks = [
        max(_grown(_bytes(begin), _bytes(end)).values(), default=0) / (end.at_s - begin.at_s)
        for begin, end in _spans(readings, lambda reading: bool(reading.net))
    ]
    return replace(
        counted,
        tx_bytes=total.get("tx_bytes"), rx_bytes=total.get("rx_bytes"),
        tx_errors=errors.get("tx_errors"), rx_errors=errors.get("rx_errors"),
        peak_bytes_per_s=round(max([*peaks, max(total.values()) / elapsed_s])),
    )  # fmt: skip


def _bytes(reading: Reading) -> dict[str, int]:
    return {name: value for name, value in reading.net.items() if name.endswith("_bytes")}


def _errors(reading: Reading) -> dict[str, int]:
    return {name: value for name, value in reading.net.items() if name.endswith("_errors")}


def _add_disks(counted: HostUsage, readings: Sequence[Reading], elapsed_s: float) -> HostUsage:
    """Bytes of all disks together, and how busy the busiest was."""
    first, last = readings[0].disks, readings[-1].disks
    grown = [
        (new.read_bytes - old.read_bytes, new.written_bytes - old.written_bytes, new.busy_s - old.busy_s)
        for old, new in ((first[name], last[name]) for name in sorted(first.keys() & last.keys()))
    ]
    if not grown:
        return counted
    read, written, busy = zip(*grown, strict=True)
    share = min(1.0, round(max(busy) / elapsed_s, 3))
    return replace(counted, disk_read_bytes=sum(read), disk_written_bytes=sum(written), disk_busy=share)


def carrier(readings: Sequence[Reading]) -> Connection | None:
    """The connection that carried the payload, with what its counts grew by; None where none moved anything.

    Its ``age_s`` is the time from when it was seen last to the end, ``rtt_median_ms`` the median of its smoothed
    round-trip times after the first reading.
    """
    before = {(connection.local, connection.peer): connection.tcp for connection in readings[0].connections}
    seen: dict[tuple[str, str], list[tuple[Connection, Reading]]] = {}
    for reading in readings[1:]:
        for connection in reading.connections:
            seen.setdefault((connection.local, connection.peer), []).append((connection, reading))
    carriers = []
    for ends, times in seen.items():
        last, reading = times[-1]
        tcp = replace(
            _since(last.tcp, before.get(ends)),
            age_s=round(readings[-1].at_s - reading.at_s, 3),
            rtt_median_ms=_median_rtt_ms(connection for connection, _ in times),
        )
        carriers.append(replace(last, tcp=tcp))
    best = max(carriers, key=lambda connection: connection.moved_bytes, default=None)
    return best if best and best.moved_bytes > 0 else None


def _median_rtt_ms(connections: Iterable[Connection]) -> float | None:
    known = [connection.tcp.rtt_ms for connection in connections if connection.tcp.rtt_ms is not None]
    return round(statistics.median(known), 3) if known else None


def _since(now: TcpFacts, before: TcpFacts | None) -> TcpFacts:
    """What the kernel tells now, with what its counts grew by; one that was not there before began from nothing."""
    if before is None:
        return now
    pairs = {name: (getattr(before, name), getattr(now, name)) for name in GROWING}
    changed = {name: new - (old or 0) for name, (old, new) in pairs.items() if new is not None}
    return replace(now, **changed)
