"""What one host did during a transfer: from what stood before it, what was sampled meanwhile, and what stood after it.

Averages come from the first and the last reading alone, so they are exact; only peaks rest on samples. What a host
does not count is left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.platforms import ALL_CORES, Connection, Reading, Ticks

PEAK_S = 0.5  # a peak is the mean of at least so long: the kernel counts a core's time in steps of 0.01 s
SHARES = {
    "user": ("user", "nice"),
    "system": ("system",),
    "softirq": ("irq", "softirq"),
    "iowait": ("iowait",),
    "steal": ("steal",),
}
# of a connection, what grows as long as it lives
GROWING = ("sent_bytes", "acked_bytes", "received_bytes", "retransmits", "busy_ms", "rwnd_limited_ms",
           "sndbuf_limited_ms")  # fmt: skip


def usage(readings: Sequence[Reading], elapsed_s: float) -> dict[str, Any]:
    """The fields of one side of ``observed`` (docs/reference/observed.md), of at least two readings, oldest first."""
    found = _cpu(readings, elapsed_s) | _net(readings, elapsed_s) | _disks(readings, elapsed_s)
    memory = [reading.available_bytes for reading in readings if reading.available_bytes is not None]
    if memory:
        found["memory_least_bytes"] = min(memory)
    first, last = readings[0].swapped_bytes, readings[-1].swapped_bytes
    if first is not None and last is not None and last >= first:
        found["swapped_bytes"] = last - first
    return found | {"samples": len(readings) - 2}


def _cpu(readings: Sequence[Reading], elapsed_s: float) -> dict[str, Any]:
    first, last = readings[0], readings[-1]
    found: dict[str, Any] = {}
    if used := _grown(first.group, last.group):
        found = {"cpu_cores": round(used["usage_s"] / elapsed_s, 3)} if "usage_s" in used else {}
        found |= {name: round(used[name], 3) for name in ("throttled_s", "waited_s") if name in used}
    counting = [reading for reading in readings if reading.cores]
    spent = ticks_spent(counting[0], counting[-1]) if counting else {}
    shares = core_shares(spent)
    found |= shares
    if shares and ALL_CORES not in spent:
        found["cores"] = len(spent)
        found["core_mean"] = max(map(busy_share, spent.values()))
        peaks = [
            busy_share(core)
            for begin, end in _spans(readings, lambda reading: bool(reading.cores))
            for core in ticks_spent(begin, end).values()
        ]
        found["core_peak"] = max([*peaks, found["core_mean"]])
    if busiest := _busiest(readings, elapsed_s):
        found["process"], found["process_mean"] = busiest
    return found


def _grown(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """How far each count grew; one that began again is left out."""
    return {name: after[name] - value for name, value in before.items() if after.get(name, -1) >= value}


def core_shares(spent: Mapping[str, Ticks]) -> dict[str, float]:
    """What the time of all cores together went to, as shares of it; empty where none is known."""
    total = sum(map(sum, spent.values()))
    return {
        name: round(sum(getattr(core, kind) for core in spent.values() for kind in kinds) / total, 3)
        for name, kinds in SHARES.items()
        if total
    }


def ticks_spent(before: Reading, after: Reading) -> dict[str, Ticks]:
    """What each core did meanwhile. iowait may go back by a little (proc(5)): then it is none."""
    both = before.cores.keys() & after.cores.keys()
    return {
        name: Ticks(*(max(0, new - old) for old, new in zip(before.cores[name], after.cores[name], strict=True)))
        for name in sorted(both)
    }


def busy_share(core: Ticks) -> float:
    """The share of its time that a core was not free to do more: stolen time counts, waiting for a disk does not."""
    total = sum(core)
    return round(1 - (core.idle + core.iowait) / total, 3) if total else 0.0


def _spans(readings: Sequence[Reading], fits: Callable[[Reading], bool]) -> Iterator[tuple[Reading, Reading]]:
    """Beginning and end of each stretch of at least PEAK_S, and hardly more; none where all is shorter."""
    known = [reading for reading in readings if fits(reading)]
    begin = 0
    for end in range(1, len(known)):
        while begin + 1 < end and known[end].at_s - known[begin + 1].at_s >= PEAK_S:
            begin += 1
        if known[end].at_s - known[begin].at_s >= PEAK_S:
            yield known[begin], known[end]


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


def _net(readings: Sequence[Reading], elapsed_s: float) -> dict[str, Any]:
    """Bytes each way; the peak is of the busier way, and no less than the mean."""
    total = _grown(_bytes(readings[0]), _bytes(readings[-1]))
    if not total:
        return {}
    errors = _grown(_errors(readings[0]), _errors(readings[-1]))
    peaks = [
        max(_grown(_bytes(begin), _bytes(end)).values(), default=0) / (end.at_s - begin.at_s)
        for begin, end in _spans(readings, lambda reading: bool(reading.net))
    ]
    return {**total, **errors, "peak_bytes_per_s": round(max([*peaks, max(total.values()) / elapsed_s]))}


def _bytes(reading: Reading) -> dict[str, int]:
    return {name: value for name, value in reading.net.items() if name.endswith("_bytes")}


def _errors(reading: Reading) -> dict[str, int]:
    return {name: value for name, value in reading.net.items() if name.endswith("_errors")}


def _disks(readings: Sequence[Reading], elapsed_s: float) -> dict[str, Any]:
    """Of all disks together; ``disk_busy`` is the share of the time that the busiest had something to do."""
    first, last = readings[0].disks, readings[-1].disks
    grown = [
        (new.read_bytes - old.read_bytes, new.written_bytes - old.written_bytes, new.busy_s - old.busy_s)
        for old, new in ((first[name], last[name]) for name in sorted(first.keys() & last.keys()))
    ]
    if not grown:
        return {}
    read, written, busy = zip(*grown, strict=True)
    share = min(1.0, round(max(busy) / elapsed_s, 3))
    return {"disk_read_bytes": sum(read), "disk_written_bytes": sum(written), "disk_busy": share}


@dataclass(frozen=True)
class Carrier:
    """The connection that moved most bytes, as it was seen last, ``age_s`` before the end. It counts this transfer."""

    seen: Connection
    age_s: float


def carrier(readings: Sequence[Reading]) -> Carrier | None:
    """The connection that carried the payload; None where none is known to have moved anything."""
    old = {(each.local, each.peer): each for each in readings[0].connections}
    last = {(each.local, each.peer): (each, reading) for reading in readings[1:] for each in reading.connections}
    found = [
        Carrier(_since(each, old.get(ends)), round(readings[-1].at_s - reading.at_s, 3))
        for ends, (each, reading) in last.items()
    ]
    best = max(found, key=lambda each: each.seen.moved_bytes, default=None)
    return best if best and best.seen.moved_bytes > 0 else None


def _since(now: Connection, before: Connection | None) -> Connection:
    """A connection with what its counts grew by; one that was not there before began from nothing."""
    if before is None:
        return now
    pairs = {name: (getattr(before, name), getattr(now, name)) for name in GROWING}
    changed = {name: new - (old or 0) for name, (old, new) in pairs.items() if new is not None}
    return dataclasses.replace(now, **changed)
