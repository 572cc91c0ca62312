"""A thing that can limit a transfer: what it is called, how much of it was in use, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

UNCLEAR, LINK, WINDOW, ROUND_TRIPS = "unclear", "link", "latency × window", "protocol round trips"
DISK, FLUSH, DISTURBED = "disk", "flush to disk", "disturbed"
FILE_SYSTEM = "file system"  # of the lab's own, with what lies below it
LOSSES, SERVER = "lost packets", "the server or its disk"
CERTAIN, PROBABLE = "certain", "probable"

NEAR = 0.85  # share of a ceiling: that scatters, for it took seconds; and at start and flush a transfer fills no link
FAR_ABOVE = 1.15  # of a ceiling, by the same scatter: a faster transfer came from a cache
KIB = 1024

Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Limit:
    """One thing that may limit, how much of it was in use (0 to 1), and that as a sentence.

    ``near`` says whether it was so near its limit that it explains the rate; one that ``bounds_the_ceiling`` slows
    iperf3 down as well. ``grade`` is how sure it is, where it is near: CERTAIN or PROBABLE.
    """

    name: str
    share: float
    evidence: str
    near: bool
    bounds_the_ceiling: bool = False
    grade: str = CERTAIN


def percent(share: float) -> str:
    """A share of 1 as evidence has it."""
    return f"{100 * share:.0f} %"


def grade(is_certain: bool) -> str:
    """The grade of a limit that is near."""
    return CERTAIN if is_certain else PROBABLE


def store_limit(medians: Numbers) -> str:
    """What a case's store is called as a limit: FILE_SYSTEM where the lab made it, DISK where it was there."""
    return FILE_SYSTEM if "made" in medians else DISK
