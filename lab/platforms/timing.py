"""The stopwatch's report on a transfer, and transfers of several hosts that start at one instant.

Each host has its own clock. The controller measures the offset of a host's clock over the stopwatch's connection. The
host reads its clock between question and answer, so half of the round trip bounds the error; the shortest of several
round trips counts (Cristian, "Probabilistic clock synchronization", 1989).
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from lab.base.errors import LabFailure, TransferError
from lab.base.untrusted import FASTEST_BYTES_PER_S, first_line, quantity, word
from lab.hosts import Result
from lab.hosts.host import Dialogue
from lab.platforms.readings import Reading

T = TypeVar("T")


class Moved(NamedTuple):
    """Bytes that an interface has sent and received."""

    tx_bytes: int
    rx_bytes: int


@dataclass(frozen=True)
class Counters:
    """Ever-growing counts of a host: bytes through the data interface, CPU seconds in use, TCP segments sent again.

    ``state`` is what was in effect when they were taken: ``mtu`` always, and TCP buffers as the platform names them.
    ``reading`` is all that was counted, None where the platform counts no more than this. ``others`` are the host's
    other interfaces, by name. ``carrier_changes`` is how often the data interface went up or down.
    """

    tx_bytes: int
    rx_bytes: int
    cpu_s: float | None
    retransmits: int | None
    state: dict[str, str] = field(default_factory=dict)
    reading: Reading | None = None
    others: Mapping[str, Moved] = field(default_factory=dict)
    carrier_changes: int | None = None

    def since(self, before: Counters) -> Counters:
        """What was counted since ``before``. Raises LabFailure where the interface began again from nothing."""
        tx_bytes, rx_bytes = self.tx_bytes - before.tx_bytes, self.rx_bytes - before.rx_bytes
        if min(tx_bytes, rx_bytes) < 0:
            raise LabFailure("the byte counters of the data interface went back: it was reset during the transfer")
        cpu_s, resent = grown(self.cpu_s, before.cpu_s), grown(self.retransmits, before.retransmits)
        others, changes = self._others_since(before), grown(self.carrier_changes, before.carrier_changes)
        return Counters(tx_bytes, rx_bytes, cpu_s, resent, self.state, others=others, carrier_changes=changes)

    def _others_since(self, before: Counters) -> dict[str, Moved]:
        """What other interfaces have moved since; one that is new, or was reset, counts from nothing."""
        moved = {}
        for name, now in self.others.items():
            start = before.others.get(name, Moved(0, 0))
            was_reset = now.tx_bytes < start.tx_bytes or now.rx_bytes < start.rx_bytes
            moved[name] = now if was_reset else Moved(now.tx_bytes - start.tx_bytes, now.rx_bytes - start.rx_bytes)
        return moved


@dataclass(frozen=True)
class MountServer:
    """Where the server of a mount takes connections; ``protocol`` is for messages, ``pings`` show a black hole."""

    address: str
    port: int
    protocol: str
    pings: tuple[tuple[str, ...], ...] = ()

    @property
    def words(self) -> str:
        """The SERVER argument of the stopwatch."""
        return "\n".join([f"{self.address} {self.port}", *map(shlex.join, self.pings)])


CountT = TypeVar("CountT", int, float)


def grown(after: CountT | None, before: CountT | None) -> CountT | None:
    """How far a count grew; None where it is not known, or went back."""
    return None if after is None or before is None or after < before else after - before


@dataclass(frozen=True)
class Timing:
    """One timed command: seconds on the client's own clock, flush included, and the counts meanwhile.

    ``clock`` is ``monotonic``, or ``wall`` if the system has no better. ``flushed`` is how the data was flushed, and
    ``flush_s`` the part of ``elapsed_s`` that this took. ``tool_cpu_s`` are the CPU seconds of command and children.
    ``readings`` are taken before and after, if the platform has them. ``printed`` is the command's output.
    """

    elapsed_s: float
    counted: Counters
    clock: str
    flushed: str
    tool_cpu_s: float
    readings: tuple[Reading, ...] = ()
    printed: str = ""
    flush_s: float | None = None


def parse_timing(values: Mapping[str, str], deadline_s: float, counters: Callable[[str], Counters]) -> Timing:
    """A timed command from the stopwatch's lines and ``counters`` ``before`` and ``after``. Raises ValueError."""
    elapsed_s = field_of(values, "elapsed_s", _parse_seconds)
    before, after = counters("before"), counters("after")
    counted = after.since(before)
    if elapsed_s > deadline_s:
        raise ValueError(f"elapsed_s {elapsed_s} is longer than the {deadline_s:g} s that it was given")
    if 0 < elapsed_s < max(counted.tx_bytes, counted.rx_bytes) / FASTEST_BYTES_PER_S:
        raise ValueError(f"more bytes than any link carries in {elapsed_s} s")
    flush_s = field_of(values, "flush_s", _parse_seconds) if "flush_s" in values else None
    how = field_of(values, "flushed", lambda value: word(value, "none|fsync|F_FULLFSYNC"))
    reason = values.get("flush_reason")  # what kept the client from a better way
    return Timing(
        elapsed_s,
        counted,
        clock=field_of(values, "clock", lambda value: word(value, "monotonic|wall")),
        flushed=f"{how} ({first_line(reason)})" if reason else how,
        tool_cpu_s=field_of(values, "tool_cpu_s", quantity),
        readings=tuple(counters.reading for counters in (before, after) if counters.reading is not None),
        flush_s=flush_s if flush_s is not None and 0 <= flush_s <= elapsed_s else None,  # else a clock was set
    )


def _parse_seconds(value: str) -> float:
    return float(word(value, r"-?[0-9]{1,9}(\.[0-9]{1,9})?"))


def field_of(values: Mapping[str, str], name: str, check: Callable[[str], T]) -> T:
    """The value of this name, checked. Raises ValueError that names it."""
    if name not in values:
        raise ValueError(f"no {name}")
    try:
        return check(values[name])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def values_of(text: str) -> dict[str, str]:
    """The values by name, of lines ``name value``."""
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


TOGETHER = "together"  # the START argument of the stopwatch
QUESTIONS = 12  # about the time
END = "end of report\n"
NUMBER = r"-?[0-9]{1,12}\.[0-9]{1,9}"


@dataclass(frozen=True)
class Offset:
    """By how many seconds a host's clock is ahead of our monotonic clock, and the bound of the error."""

    ahead_s: float
    bound_s: float


@dataclass(frozen=True)
class Instants:
    """Start and end of a transfer, flush included, by its host's clock; the clock of the samples may be ahead."""

    started_s: float
    ended_s: float
    samples_ahead_s: float


class Armed:
    """A transfer that is ready to start. ``read`` parses what the stopwatch prints in the end."""

    def __init__(self, dialogue: Dialogue, gone_mark: str, read: Callable[[Result], Timing]):
        self._dialogue, self._gone_mark, self._read = dialogue, gone_mark, read

    def await_ready(self) -> float:
        """Wait for the stopwatch; returns the seconds that it takes to count first. Raises HostError, TransferError."""
        return self._number("ready")

    def measure_offset(self) -> Offset:
        """How far the host's clock is ahead. Raises HostError, and TransferError where the stopwatch has gone."""
        shots = []
        for _ in range(QUESTIONS):
            asked = time.monotonic()
            self._dialogue.ask("now?")
            host_s = self._number("now")
            answered = time.monotonic()
            shots.append(Offset(host_s - (asked + answered) / 2, (answered - asked) / 2))
        return min(shots, key=lambda shot: shot.bound_s)

    def start_at(self, at_s: float) -> None:
        """Let the transfer start when the host's clock shows ``at_s``. Raises HostError."""
        self._dialogue.ask(f"start {at_s:.6f}")

    def wait(self) -> tuple[Instants, Offset] | None:
        """Wait for the end; None if the transfer failed or its server is gone. Raises DeadlineExceeded, HostError."""
        text = self._dialogue.hear(lambda text: END in text or bool(self._gone_mark and self._gone_mark in text))
        if END not in text:
            return None
        return self._instants(text), self.measure_offset()

    def _instants(self, text: str) -> Instants:
        values = values_of(text)
        try:
            return Instants(*(field_of(values, name, _parse_time) for name in ("started", "ended", "samples_ahead")))
        except ValueError as error:
            raise TransferError(f"the stopwatch's report cannot be true: {error}", host=self._dialogue.name) from error

    def timing(self) -> Timing:
        """The report on the transfer. Raises as :meth:`Clock.time_transfer` does."""
        is_over = END in self._dialogue.conversation.stdout
        return self._read(self._dialogue.finish() if is_over else self._dialogue.stopped())

    def _number(self, name: str) -> float:
        line = self._dialogue.next_line()
        try:
            return field_of(values_of(line), name, _parse_time)
        except ValueError as error:
            problem = self._dialogue.conversation.errors.strip() or str(error)
            raise TransferError(f"the stopwatch does not answer: {problem}", host=self._dialogue.name) from error


def _parse_time(value: str) -> float:
    return float(word(value, NUMBER))
