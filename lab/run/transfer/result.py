"""What one transfer came to, and what is looked at right before and after it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lab.base.asleep import asleep_s
from lab.design.case import Case
from lab.hosts import Role
from lab.platforms import Counters, Timing
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.run.case.made_store import MadeStore
from lab.run.case.pair import Pair
from lab.run.case.setup import Setup
from lab.run.transfer.in_effect import buffers_of, effective_of
from lab.run.transfer.proof import contradiction, describe_others
from lab.run.transfer.store_moved import add_moved, count_moved, find_fault
from lab.run.transfer.tool_call import keeps_what_it_moves
from lab.stores import DeviceBytes

OUTAGE = "an outage: {changes}"
SLEPT = "this machine slept for {slept_s:.0f} s during the transfer"
MOST_ASLEEP_S = 0.1  # of two clocks that are read one after the other


@dataclass(frozen=True)
class TransferResult:
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


@dataclass(frozen=True)
class Counts:
    """What stands right before or after a transfer: seconds that this machine slept, and what others counted.

    ``server`` is None where nobody logs in there, ``store`` where nothing counts the bytes of its devices.
    """

    slept_s: float
    server: Counters | None
    store: DeviceBytes | None


def count_before(pair: Pair, store: MadeStore | None) -> Counts:
    """The counts before a transfer, those of the server last. Raises LabFailure."""
    stored, slept_s = count_moved(pair, store), asleep_s()
    return Counts(slept_s, _count_server(pair), stored)


def count_after(pair: Pair, store: MadeStore | None) -> Counts:
    """The counts after a transfer, those of the server first. Raises LabFailure."""
    server, slept_s = _count_server(pair), asleep_s()
    return Counts(slept_s, server, count_moved(pair, store))


def _count_server(pair: Pair) -> Counters | None:
    if Role.SERVER not in pair.roles:
        return None
    return pair.platforms[Role.SERVER].clock.counters(pair.interface(Role.SERVER))


def result_of(
    pair: Pair,
    setup: Setup,
    case: Case,
    before: Counts,
    after: Counts,
    timing: Timing,
    clients: Mapping[str, Counters],
    observed: Observed,
    unproven: str,
    more: Mapping[str, str | int],
) -> TransferResult:
    """The result of a transfer, with why it does not count, if so.

    ``clients`` are what each client counted, by name. ``unproven`` says why the transfer itself proves nothing, and is
    empty where it does. ``more`` is what else was in effect.
    """
    server = after.server.since(before.server) if after.server and before.server else None
    hosts = {**clients, "server": server}
    observed = add_moved(observed, setup.store, before.store, after.store)
    observed = replace(observed, carrier_changes=_count_carrier_changes(hosts.values()))
    states = {Role.CLIENT: timing.counted.state} | ({Role.SERVER: after.server.state} if after.server else {})
    void = _describe_sleep(pair, after.slept_s - before.slept_s) or describe_outage(hosts) or unproven
    void = void or contradiction(case, states, observed, buffers_of(pair)) or find_fault(pair, setup.store)
    others = dict(describe_others(Role.SERVER, case, server)) if server else {}
    effective = effective_of(setup, case, timing, states, {**others, **more})
    return TransferResult(timing, server, effective, void, observed, verified=keeps_what_it_moves(case))


def _count_carrier_changes(counted: Iterable[Counters | None]) -> int | None:
    """How often the links of hosts went up or down; None where none did, or none is counted."""
    return sum(one.carrier_changes or 0 for one in counted if one) or None


def describe_outage(counted: Mapping[str, Counters | None]) -> str:
    """Why nothing counts that was moved while the link of a host went up or down; empty where none did."""
    return describe_cut({name: one.carrier_changes if one else None for name, one in counted.items()})


def describe_cut(changes: Mapping[str, int | None]) -> str:
    """The same, by how often each did."""
    cut = ", ".join(f"{number} carrier changes on the {name}" for name, number in changes.items() if number)
    return OUTAGE.format(changes=cut) if cut else ""


def _describe_sleep(pair: Pair, slept_s: float) -> str:
    """Why a transfer from this machine does not count that slept meanwhile; empty where it did not."""
    if pair.config.client.transport != "local" or slept_s < MOST_ASLEEP_S:
        return ""
    return SLEPT.format(slept_s=slept_s)
