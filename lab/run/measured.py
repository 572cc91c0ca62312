"""What one transfer came to, and what is looked at right before and after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lab.hosts import Role
from lab.platforms import Counters, Timing
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.run.pair import Pair

OUTAGE = "an outage: {changes}"
SLEPT = "this machine slept for {slept_s:.0f} s during the transfer"
MOST_ASLEEP_S = 0.1  # of two clocks that are read one after the other


@dataclass(frozen=True)
class Measured:
    """What one transfer came to. ``void`` says why it does not count, and is empty where it does.

    ``server`` is None where nobody logs in there. ``verified``: what was moved was compared byte by byte.
    """

    timing: Timing
    server: Counters | None
    effective: Effective
    void: str
    observed: Observed = field(default_factory=Observed)
    samples: dict[str, object] = field(default_factory=dict)
    verified: bool = True


def count_server(pair: Pair) -> list[Counters]:
    """What the server counts at present; of one that nobody logs in to, nothing."""
    if Role.SERVER not in pair.roles:
        return []
    return [pair.platforms[Role.SERVER].clock.counters(pair.interface(Role.SERVER))]


def count_carrier_changes(counted: Iterable[Counters | None]) -> int | None:
    """How often the links of hosts went up or down; None where none did, or none is counted."""
    return sum(one.carrier_changes or 0 for one in counted if one) or None


def describe_outage(counted: Mapping[str, Counters | None]) -> str:
    """Why nothing counts that was moved while the link of a host went up or down; empty where none did."""
    return describe_cut({name: one.carrier_changes if one else None for name, one in counted.items()})


def describe_cut(changes: Mapping[str, int | None]) -> str:
    """The same, by how often each did."""
    cut = ", ".join(f"{number} carrier changes on the {name}" for name, number in changes.items() if number)
    return OUTAGE.format(changes=cut) if cut else ""


def describe_sleep(pair: Pair, slept_s: float) -> str:
    """Why a transfer from this machine does not count that slept meanwhile; empty where it did not."""
    if pair.config.client.transport != "local" or slept_s < MOST_ASLEEP_S:
        return ""
    return SLEPT.format(slept_s=slept_s)
