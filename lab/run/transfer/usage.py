"""What one host did during a transfer, from the readings before, during and after it.

Averages follow from the first and the last reading alone, so they are exact; only peaks rest on samples. What a host
does not count is left out.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from lab.platforms.readings import ALL_CORES, Connection, Disk, Reading, Ticks, ticks_spent
from lab.platforms.timing import grown
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
           "rwnd_limited_ms", "sndbuf_limited_ms", "out_of_order")  # fmt: skip


def usage(readings: Sequence[Reading], elapsed_s: float, cores: int) -> HostUsage:
    """What a host with so many cores did between two readings or more, oldest first.

    ``cores`` is reported if no core is counted by itself, or none shows any work, as in a hundredth of a second.
    """
    first, last = readings[0], readings[-1]
    group, net = _grown(first.group, last.group), _grown(first.net, last.net)
    moved = {name: net[name] for name in ("tx_bytes", "rx_bytes") if name in net}
    process, process_mean = _busiest_process(readings, elapsed_s) or (None, None)
    memory = [reading.available_bytes for reading in readings if reading.available_bytes is not None]
    counting = [reading for reading in readings if reading.cores]
    spent = ticks_spent(counting[0].cores, counting[-1].cores) if counting else {}
    shares = core_shares(spent)
    core_mean, core_peak = _busiest_core(readings, spent) if shares and ALL_CORES not in spent else (None, None)
    disk_read_bytes, disk_written_bytes, disk_busy = _disks(first.disks, last.disks, elapsed_s) or (None, None, None)

    def seconds(name: str, per_s: float = 1.0) -> float | None:
        return round(group[name] / per_s, 3) if name in group else None

    return HostUsage(
        cores=cores if core_mean is None else len(spent), cpu_cores=seconds("usage_s", elapsed_s),
        link_cores=seconds("link_s", elapsed_s), throttled_s=seconds("throttled_s"), waited_s=seconds("waited_s"),
        user=shares.get("user"), system=shares.get("system"), softirq=shares.get("softirq"),
        iowait=shares.get("iowait"), steal=shares.get("steal"), core_mean=core_mean, core_peak=core_peak,
        process=process, process_mean=process_mean, tx_bytes=moved.get("tx_bytes"), rx_bytes=moved.get("rx_bytes"),
        tx_errors=net.get("tx_errors") if moved else None, rx_errors=net.get("rx_errors") if moved else None,
        peak_bytes_per_s=_peak_bytes_per_s(readings, max(moved.values()) / elapsed_s) if moved else None,
        disk_read_bytes=disk_read_bytes, disk_written_bytes=disk_written_bytes, disk_busy=disk_busy,
        memory_least_bytes=min(memory, default=None),
        swapped_bytes=grown(last.swapped_bytes, first.swapped_bytes), samples=len(readings) - 2,
    )  # fmt: skip


def _grown(before: Mapping[str, CountT], after: Mapping[str, CountT]) -> dict[str, CountT]:
    """How far each count grew; one that began again is left out."""
    return {name: after[name] - value for name, value in before.items() if name in after and after[name] >= value}


def core_shares(spent: Mapping[str, Ticks]) -> dict[str, float]:
    """What the time of all cores together went to, as shares of it; empty if none is known."""
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


def _busiest_core(readings: Sequence[Reading], spent: Mapping[str, Ticks]) -> tuple[float, float]:
    """The mean and the peak share of the busiest core."""
    mean = max(map(busy_share, spent.values()))
    spans = _spans(readings, lambda reading: bool(reading.cores))
    peaks = (busy_share(core) for begin, end in spans for core in ticks_spent(begin.cores, end.cores).values())
    return mean, max([*peaks, mean])


def _peak_bytes_per_s(readings: Sequence[Reading], mean: float) -> int:
    """The peak in the busier direction; no less than the mean."""
    peaks = [mean]
    for begin, end in _spans(readings, lambda reading: bool(reading.net)):
        net = _grown(begin.net, end.net)
        peaks.append(max(net.get("tx_bytes", 0), net.get("rx_bytes", 0)) / (end.at_s - begin.at_s))
    return round(max(peaks))


def _spans(readings: Sequence[Reading], fits: Callable[[Reading], bool]) -> Iterator[tuple[Reading, Reading]]:
    """The first and last reading of each stretch of at least PEAK_S, and hardly more."""
    fitting = [reading for reading in readings if fits(reading)]
    begin = 0
    for end in range(1, len(fitting)):
        while begin + 1 < end and fitting[end].at_s - fitting[begin + 1].at_s >= PEAK_S:
            begin += 1
        if fitting[end].at_s - fitting[begin].at_s >= PEAK_S:
            yield fitting[begin], fitting[end]


def _busiest_process(readings: Sequence[Reading], elapsed_s: float) -> tuple[str, float] | None:
    """The process that used most CPU time, and how many cores it used while it was seen.

    If it ended early, its last moments are missing in both numbers, because they are from its last sample.
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


def _disks(before: Mapping[str, Disk], after: Mapping[str, Disk], elapsed_s: float) -> tuple[int, int, float] | None:
    """Bytes read from all disks and written to them, and the share of time that the busiest disk was busy."""
    names = before.keys() & after.keys()
    if not names:
        return None
    read_bytes = sum(after[name].read_bytes - before[name].read_bytes for name in names)
    written_bytes = sum(after[name].written_bytes - before[name].written_bytes for name in names)
    busy_s = max(after[name].busy_s - before[name].busy_s for name in names)
    return read_bytes, written_bytes, min(1.0, round(busy_s / elapsed_s, 3))


def carrier(readings: Sequence[Reading]) -> Connection | None:
    """The connection that carried the payload, with how far its counts grew; None if none moved anything.

    Its ``age_s`` is the time from its last sample to the end, ``rtt_median_ms`` the median of its smoothed round-trip
    times after the first reading.
    """
    before = {(connection.local, connection.peer): connection.tcp for connection in readings[0].connections}
    by_ends: dict[tuple[str, str], list[tuple[Connection, Reading]]] = {}
    for reading in readings[1:]:
        for connection in reading.connections:
            by_ends.setdefault((connection.local, connection.peer), []).append((connection, reading))
    carriers = []
    for ends, times in by_ends.items():
        last, reading = times[-1]
        rtt_ms = [connection.tcp.rtt_ms for connection, _ in times if connection.tcp.rtt_ms is not None]
        tcp = replace(
            _since(last.tcp, before.get(ends)),
            age_s=round(readings[-1].at_s - reading.at_s, 3),
            rtt_median_ms=round(statistics.median(rtt_ms), 3) if rtt_ms else None,
        )
        carriers.append(replace(last, tcp=tcp))
    best = max(carriers, key=lambda connection: connection.moved_bytes, default=None)
    return best if best and best.moved_bytes > 0 else None


def _since(now: TcpFacts, before: TcpFacts | None) -> TcpFacts:
    """What the kernel reports now, with how far its counts grew; a new connection began from nothing."""
    if before is None:
        return now
    pairs = {name: (getattr(before, name), getattr(now, name)) for name in GROWING}
    changed = {name: new - (old or 0) for name, (old, new) in pairs.items() if new is not None}
    return replace(now, **changed)
