"""A host's counters at one moment, and the state of its TCP connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lab.results.observed import TcpFacts  # takes long to import with all of lab.results: a plan needs none


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
    """The ticks of each core between two readings; iowait may go back a little (proc(5)), which counts as 0."""
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
    """An open TCP connection. What this host's tools do not tell is None; buffers are bytes with bookkeeping."""

    local: str
    peer: str
    tcp: TcpFacts
    rcvbuf: int | None = None
    sndbuf: int | None = None

    @property
    def moved_bytes(self) -> int:
        """Bytes that went either way and arrived."""
        return (self.tcp.acked_bytes or 0) + (self.tcp.received_bytes or 0)


@dataclass(frozen=True)
class Reading:
    """A host's counters at ``at_s`` seconds of its own clock; None or empty if it does not count them.

    ``group`` has the CPU seconds of the host's own control group: ``usage_s``, ``user_s``, ``system_s``,
    ``throttled_s`` (kept off by a quota) and ``waited_s`` (ready to run while all cores were taken). ``processes`` are
    by process id and start, ``net`` as in ``/sys/class/net/*/statistics``, ``connections`` to the peer's data address.
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
