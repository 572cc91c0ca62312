"""The course of a trial, for samples.jsonl: every reading of a host as lists of numbers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from lab.platforms import Reading, Ticks
from lab.platforms.readings import ticks_spent
from lab.run.transfer.usage import busy_share, core_shares

ABOUT_CONNECTION = ("rtt_ms", "cwnd", "ssthresh", "window_bytes", "acked_bytes", "received_bytes", "retransmits",
                    "delivery_bytes_per_s", "rcvbuf", "sndbuf")  # fmt: skip


def series(readings: Sequence[Reading]) -> dict[str, object]:
    """One host's lists, as long as there are readings; None where one lacks the number.

    Counts are since the first reading. What cores did is a share of the time since the reading before that counts them.
    ``processes`` and ``connections`` are of those readings that have them, with their time.
    """

    def since_first(count: Callable[[Reading], float | None]) -> list[float | None]:
        first, values = count(readings[0]), list(map(count, readings))
        return [None if first is None or value is None else round(value - first, 3) for value in values]

    def net_count(name: str) -> Callable[[Reading], float | None]:
        return lambda reading: reading.net.get(name)

    net = sorted({name for reading in readings for name in reading.net})
    lists: dict[str, object] = {"at_s": since_first(lambda reading: reading.at_s)}
    lists |= {name: since_first(net_count(name)) for name in net}
    lists["cpu_s"] = since_first(lambda reading: reading.group.get("usage_s"))
    lists["disk_read_bytes"] = since_first(lambda reading: _disks(reading, "read_bytes"))
    lists["disk_written_bytes"] = since_first(lambda reading: _disks(reading, "written_bytes"))
    lists["available_bytes"] = [reading.available_bytes for reading in readings]
    return lists | _cores(readings) | _now_and_then(readings)


def _disks(reading: Reading, name: str) -> int | None:
    return sum(getattr(disk, name) for disk in reading.disks.values()) if reading.disks else None


def _cores(readings: Sequence[Reading]) -> dict[str, object]:
    spent = list(_spent(readings))
    shares = [core_shares(ticks) for ticks in spent]
    names = sorted({name for ticks in spent for name in ticks})
    busy = {name: [None, *(busy_share(ticks[name]) if name in ticks else None for ticks in spent)] for name in names}
    kinds = ("user", "system", "softirq", "iowait", "steal")
    return {"core_busy": busy, **{kind: [None, *(share.get(kind) for share in shares)] for kind in kinds}}


def _spent(readings: Sequence[Reading]) -> Iterator[dict[str, Ticks]]:
    """What cores did up to each reading but the first, since the one before that counts them: not each has to."""
    before = readings[0]
    for reading in readings[1:]:
        yield ticks_spent(before.cores, reading.cores)
        before = reading if reading.cores else before


def _now_and_then(readings: Sequence[Reading]) -> dict[str, object]:
    """CPU seconds of processes, by name and id, where they differ from the first reading; facts of connections."""
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
