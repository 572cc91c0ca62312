"""What the stopwatch of a host says: counters, and how long a transfer took."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from lab.errors import LabFailure
from lab.untrusted import FASTEST_BYTES_PER_S, count, quantity, word

STOPWATCH = Path(__file__).with_name("stopwatch.pl").read_text(encoding="utf-8")
T = TypeVar("T")


@dataclass(frozen=True)
class Counters:
    """Ever-growing counts of a host: bytes through the data interface, CPU seconds in use, TCP segments sent again.

    ``state`` is what was in effect when they were taken: ``mtu`` always, and TCP buffers as the platform names them.
    """

    tx_bytes: int
    rx_bytes: int
    cpu_s: float | None
    retransmits: int | None
    state: dict[str, str] = field(default_factory=dict)

    def since(self, before: Counters) -> Counters:
        """What was counted since ``before``. Raises LabFailure where the interface began again from nothing."""
        tx_bytes, rx_bytes = self.tx_bytes - before.tx_bytes, self.rx_bytes - before.rx_bytes
        if min(tx_bytes, rx_bytes) < 0:
            raise LabFailure("the byte counters of the data interface went back: it was reset during the transfer")
        cpu_s, resent = _grown(self.cpu_s, before.cpu_s), _grown(self.retransmits, before.retransmits)
        return Counters(tx_bytes, rx_bytes, cpu_s, resent, self.state)


CountT = TypeVar("CountT", int, float)


def _grown(after: CountT | None, before: CountT | None) -> CountT | None:
    """How far a count grew; None where it is not known, or went back."""
    return None if after is None or before is None or after < before else after - before


@dataclass(frozen=True)
class Timing:
    """One timed command: seconds on the client's own clock, flush included, and what was counted meanwhile.

    ``clock`` is ``monotonic``, or ``wall`` where the system offers no better; ``flushed`` is how the data was flushed.
    """

    elapsed_s: float
    counted: Counters
    clock: str
    flushed: str


def parse_counters(values: Mapping[str, str], when: str) -> Counters:
    """Counters from the stopwatch's lines; ``when`` is ``before`` or ``after``. Raises ValueError."""
    prefix = f"{when}.state."
    state = {name.removeprefix(prefix): name for name in values if name.startswith(prefix)}
    cpu, resent = f"{when}.cpu_s", f"{when}.retransmits"
    return Counters(
        tx_bytes=field_of(values, f"{when}.tx_bytes", count),
        rx_bytes=field_of(values, f"{when}.rx_bytes", count),
        cpu_s=field_of(values, cpu, quantity) if cpu in values else None,
        retransmits=field_of(values, resent, count) if resent in values else None,
        state={short: field_of(values, name, _state) for short, name in state.items()},
    )


def parse_timing(values: Mapping[str, str], deadline_s: float) -> Timing:
    """A timed command from the stopwatch's lines, 0 s or less where a clock was set back. Raises ValueError."""
    elapsed_s = float(field_of(values, "elapsed_s", lambda value: word(value, r"-?[0-9]{1,9}(\.[0-9]{1,9})?")))
    counted = parse_counters(values, "after").since(parse_counters(values, "before"))
    if elapsed_s > deadline_s:
        raise ValueError(f"elapsed_s {elapsed_s} is longer than the {deadline_s:g} s that it was given")
    if 0 < elapsed_s < max(counted.tx_bytes, counted.rx_bytes) / FASTEST_BYTES_PER_S:
        raise ValueError(f"more bytes than any link carries in {elapsed_s} s")
    clock = field_of(values, "clock", lambda value: word(value, "monotonic|wall"))
    flushed = field_of(values, "flushed", lambda value: word(value, "none|fsync|F_FULLFSYNC"))
    return Timing(elapsed_s, counted, clock, flushed)


def field_of(values: Mapping[str, str], name: str, check: Callable[[str], T]) -> T:
    """The value of this name, checked. Raises ValueError that names it."""
    if name not in values:
        raise ValueError(f"no {name}")
    try:
        return check(values[name])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _state(value: str) -> str:
    return word(value, r"[\t -~]{1,200}")


def values_of(text: str) -> dict[str, str]:
    """The values by name, of lines ``name value``."""
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
