"""What a host has counted up to one moment, and what one of its TCP connections says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

ALL_CORES = "all"  # stands for every core of a host that counts them only together


class Ticks(NamedTuple):
    """What one core has done since the start of its host, in hundredths of a second."""

    user: int
    nice: int
    system: int
    idle: int
    iowait: int
    irq: int
    softirq: int
    steal: int


def ticks_spent(before: Mapping[str, Ticks], after: Mapping[str, Ticks]) -> dict[str, Ticks]:
    """What each core did meanwhile. iowait may go back by a little (proc(5)): then it is none."""
    both = before.keys() & after.keys()
    return {
        name: Ticks(*(max(0, new - old) for old, new in zip(before[name], after[name], strict=True)))
        for name in sorted(both)
    }


class Disk(NamedTuple):
    """What was read from a disk and written to it, and how long it had something to do."""

    read_bytes: int
    written_bytes: int
    busy_s: float


class Process(NamedTuple):
    """A process and the CPU seconds that all its threads have used."""

    name: str
    cpu_s: float


@dataclass(frozen=True)
class Connection:
    """An open TCP connection. What this host's tools do not tell is None; counts grow as long as it lives.

    ``rcvbuf`` and ``sndbuf`` are what the kernel allows its buffers, bookkeeping included; ``window_bytes`` is what the
    peer will take; ``retransmits`` are segments; ``busy_ms`` is how long there was something to send, and of that time
    ``rwnd_limited_ms`` and ``sndbuf_limited_ms`` were spent waiting for the peer's window or for this host's buffer.
    ``data_segs_in`` and ``data_segs_out`` are segments that carried data.
    """

    local: str
    peer: str
    congestion: str | None = None
    mss: int | None = None
    pmtu: int | None = None
    rtt_ms: float | None = None
    min_rtt_ms: float | None = None
    cwnd: int | None = None
    ssthresh: int | None = None
    window_bytes: int | None = None
    sent_bytes: int | None = None
    acked_bytes: int | None = None
    received_bytes: int | None = None
    retransmits: int | None = None
    data_segs_in: int | None = None
    data_segs_out: int | None = None
    delivery_bytes_per_s: int | None = None
    busy_ms: int | None = None
    rwnd_limited_ms: int | None = None
    sndbuf_limited_ms: int | None = None
    rcvbuf: int | None = None
    sndbuf: int | None = None

    @property
    def moved_bytes(self) -> int:
        """Bytes that went either way and arrived."""
        return (self.acked_bytes or 0) + (self.received_bytes or 0)


@dataclass(frozen=True)
class Reading:
    """What a host's counters stood at, at ``at_s`` seconds of its own clock. What it does not count is None or empty.

    ``group`` has the CPU seconds of the host's own control group, those that are known: ``usage_s``, ``user_s``,
    ``system_s``, ``throttled_s`` (kept off by a quota) and ``waited_s`` (something was ready to run, but all cores were
    taken). ``processes`` are by process id and start, ``net`` as in
    ``/sys/class/net/*/statistics``. ``connections`` are those to the peer's data address. ``swapped_bytes`` were
    written to swap.
    """

    at_s: float
    net: Mapping[str, int] = field(default_factory=dict)
    cores: Mapping[str, Ticks] = field(default_factory=dict)
    group: Mapping[str, float] = field(default_factory=dict)
    disks: Mapping[str, Disk] = field(default_factory=dict)
    available_bytes: int | None = None
    swapped_bytes: int | None = None
    processes: Mapping[tuple[int, int], Process] = field(default_factory=dict)
    connections: tuple[Connection, ...] = ()
