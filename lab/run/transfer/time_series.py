"""The samples of a trial for samples.jsonl: every reading of a host as lists of numbers."""

from collections.abc import Sequence
from dataclasses import asdict

from lab.platforms.readings import Reading, Ticks, ticks_spent
from lab.run.transfer.usage import SHARES, busy_share, core_shares

ABOUT_CONNECTION = ("rtt_ms", "cwnd", "ssthresh", "window_bytes", "acked_bytes", "received_bytes", "retransmits",
                    "delivery_bytes_per_s", "rcvbuf", "sndbuf")  # fmt: skip


def series(readings: Sequence[Reading]) -> dict[str, object]:
    """One host's lists, with an item for each reading; None if a reading lacks the number.

    Counts are since the first reading. The shares of cores are of the time since the last reading that counts them.
    ``processes`` and ``connections`` list only the readings that have some, each with its time.
    """
    net = sorted({name for reading in readings for name in reading.net})
    lists: dict[str, object] = {"at_s": _since_first([reading.at_s for reading in readings])}
    lists |= {name: _since_first([reading.net.get(name) for reading in readings]) for name in net}
    lists["cpu_s"] = _since_first([reading.group.get("usage_s") for reading in readings])
    disks = [reading.disks.values() for reading in readings]
    for name in ("read_bytes", "written_bytes"):
        sums = [sum(getattr(disk, name) for disk in counted) if counted else None for counted in disks]
        lists[f"disk_{name}"] = _since_first(sums)
    lists["available_bytes"] = [reading.available_bytes for reading in readings]
    return lists | _cores(readings) | _now_and_then(readings)


def _since_first(values: Sequence[float | None]) -> list[float | None]:
    first = values[0]
    return [None if first is None or value is None else round(value - first, 3) for value in values]


def _cores(readings: Sequence[Reading]) -> dict[str, object]:
    """What cores did up to each reading but the first, since the last reading that counts them."""
    spent, before = list[dict[str, Ticks]](), readings[0]
    for reading in readings[1:]:
        spent.append(ticks_spent(before.cores, reading.cores))
        before = reading if reading.cores else before
    shares = [core_shares(ticks) for ticks in spent]
    names = sorted({name for ticks in spent for name in ticks})
    busy = {name: [None, *(busy_share(ticks[name]) if name in ticks else None for ticks in spent)] for name in names}
    return {"core_busy": busy, **{kind: [None, *(share.get(kind) for share in shares)] for kind in SHARES}}


def _now_and_then(readings: Sequence[Reading]) -> dict[str, object]:
    """CPU seconds of processes since the first reading, by name and id, and facts of connections."""
    begin, old = readings[0].at_s, readings[0].processes
    processes: list[tuple[float, dict[str, float]]] = []
    connections: list[tuple[float, str, dict[str, object]]] = []
    for reading in readings:
        at_s = round(reading.at_s - begin, 3)
        used = {
            f"{process.name} {key[0]}": round(process.cpu_s - (old[key].cpu_s if key in old else 0.0), 2)
            for key, process in reading.processes.items()
        }
        if grown := {name: cpu_s for name, cpu_s in used.items() if cpu_s > 0}:
            processes.append((at_s, grown))
        for connection in reading.connections:
            known = {**asdict(connection.tcp), **asdict(connection)}
            facts = {name: known[name] for name in ABOUT_CONNECTION}
            connections.append((at_s, f"{connection.local} {connection.peer}", facts))
    return {"processes": processes, "connections": connections}
