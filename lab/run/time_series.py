"""The course of a trial, for samples.jsonl: every reading of a host as lists of numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from lab.platforms import Reading
from lab.run.usage import busy_share, core_shares, ticks_spent

ABOUT_CONNECTION = ("rtt_ms", "cwnd", "ssthresh", "window_bytes", "acked_bytes", "received_bytes", "retransmits",
                    "delivery_bytes_per_s", "rcvbuf", "sndbuf")  # fmt: skip


def series(readings: Sequence[Reading]) -> dict[str, Any]:
    """One host's lists, as long as there are readings; None where one lacks the number.

    Counts are since the first reading. What cores did is a share of the time since the reading before. ``processes``
    and ``connections`` are of those readings that have them, with their time.
    """

    def since_first(value: Callable[[Reading], float | None]) -> list[float | None]:
        first, values = value(readings[0]), list(map(value, readings))
        return [None if first is None or each is None else round(each - first, 3) for each in values]

    def counted(name: str) -> Callable[[Reading], float | None]:
        return lambda reading: reading.net.get(name)

    net = sorted({name for reading in readings for name in reading.net})
    lists: dict[str, Any] = {"at_s": since_first(lambda reading: reading.at_s)}
    lists |= {name: since_first(counted(name)) for name in net}
    lists["cpu_s"] = since_first(lambda reading: reading.group.get("usage_s"))
    lists["disk_read_bytes"] = since_first(lambda reading: _disks(reading, "read_bytes"))
    lists["disk_written_bytes"] = since_first(lambda reading: _disks(reading, "written_bytes"))
    lists["available_bytes"] = [reading.available_bytes for reading in readings]
    return lists | _cores(readings) | _now_and_then(readings)


def _disks(reading: Reading, name: str) -> int | None:
    return sum(getattr(disk, name) for disk in reading.disks.values()) if reading.disks else None


def _cores(readings: Sequence[Reading]) -> dict[str, Any]:
    spent = [ticks_spent(before, after) for before, after in pairwise(readings)]
    shares = [core_shares(each) for each in spent]
    names = sorted({name for each in spent for name in each})
    busy = {name: [None, *(busy_share(each[name]) if name in each else None for each in spent)] for name in names}
    kinds = ("user", "system", "softirq", "iowait", "steal")
    return {"core_busy": busy} | {kind: [None, *(each.get(kind) for each in shares)] for kind in kinds}


def _now_and_then(readings: Sequence[Reading]) -> dict[str, Any]:
    """CPU seconds of processes, by name and id, where they differ from the first reading; facts of connections."""
    begin, old = readings[0].at_s, readings[0].processes
    processes: list[Any] = []
    connections: list[Any] = []
    for reading in readings:
        at_s = round(reading.at_s - begin, 3)
        used = {
            f"{process.name} {key[0]}": round(process.cpu_s - (old[key].cpu_s if key in old else 0.0), 2)
            for key, process in reading.processes.items()
        }
        if grown := {name: cpu_s for name, cpu_s in used.items() if cpu_s > 0}:
            processes.append([at_s, grown])
        for each in reading.connections:
            facts = {name: value for name, value in dataclasses.asdict(each).items() if name in ABOUT_CONNECTION}
            connections.append([at_s, f"{each.local} {each.peer}", facts])
    return {"processes": processes, "connections": connections}
