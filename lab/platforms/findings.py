"""What a platform can tell before a run: what would disturb it, the link's medium, clocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

BUSY_PER_CORE = 0.5  # load average; beyond it, what else runs takes a share of the processor that nobody can subtract
SWAP_BYTES = 64 * 1024**2  # less than that may be left over from any time since the system started


@dataclass(frozen=True)
class Noise:
    """Something on a host that makes figures worse or less steady, and what to do about it.

    ``urgent`` is false for what does no harm now, and may begin to.
    """

    what: str
    remedy: str
    urgent: bool = True


Noises: TypeAlias = Mapping[str, Callable[[], Sequence[Noise]]]  # one look at a host by what it looks at


@dataclass(frozen=True)
class Medium:
    """What an interface is: wireless or not, ``full`` or ``half`` duplex. None where the host does not say.

    One that is ``virtual`` has no hardware, its own or below it: the speed that it names is none.
    """

    wireless: bool | None = None
    duplex: str | None = None
    virtual: bool = False


@dataclass(frozen=True)
class Radio:
    """What a Wi-Fi interface says of the air: the rate at which it sends, in bits per second, and what it receives at
    which strength, in dBm. None where it does not say.
    """

    bits_per_s: int | None = None
    signal_dbm: int | None = None
    noise_dbm: int | None = None


@dataclass(frozen=True)
class Skew:
    """How far a host's clock is ahead of the controller's, in seconds, and by how much that may be wrong."""

    ahead_s: float
    within_s: float

    @property
    def least_s(self) -> float:
        """The smallest difference, without a sign, that the two readings allow."""
        return max(abs(self.ahead_s) - self.within_s, 0.0)


def skew(before_s: float, clock: str, after_s: float) -> Skew:
    """The skew of a clock that said so (seconds since 1970) between two readings of our own.

    Without a fraction the reading may be up to a second old. Raises ValueError for what is no time.
    """
    match = re.fullmatch(r"\s*(\d+)(\.\d+)?\s*", clock)
    if not match:
        raise ValueError(f"its clock says {clock[:40]!r}, which is no number of seconds")
    earliest = float(match[0])
    latest = earliest if match[2] else earliest + 1.0
    low, high = earliest - after_s, latest - before_s
    return Skew((low + high) / 2, (high - low) / 2)


def load_noise(load: float, cores: int) -> list[Noise]:
    """Noise where the load average of the last minute says that a good part of the processor is taken."""
    if load <= BUSY_PER_CORE * cores:
        return []
    return [
        Noise(f"the load average is {load:g} on {cores} cores", "find out with `top` what runs, and wait or end it")
    ]


def swap_noise(used_bytes: int) -> list[Noise]:
    """Noise where memory was short: RAM disks can be swapped out, and are then as slow as a disk."""
    if used_bytes < SWAP_BYTES:
        return []
    what = f"{used_bytes / 2**20:.0f} MiB of memory are swapped out: a RAM disk may be, too, where memory gets short"
    return [Noise(what, "end what takes the memory, or lower ram_disk", urgent=False)]
