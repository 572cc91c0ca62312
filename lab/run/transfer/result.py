"""The result of one transfer, and what is looked at right before and after it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lab.base.asleep import asleep_s
from lab.design.factors import Direction
from lab.hosts import ROLES, Role
from lab.platforms import Counters, Timing
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.run.case.made_store import MadeStore
from lab.run.case.pair import Pair
from lab.run.transfer.part import Part, keeps_what_it_moves
from lab.run.transfer.payload import describe_writer
from lab.run.transfer.proof import States, buffers_of, contradiction, describe_others
from lab.run.transfer.store_moved import add_moved, count_moved, find_fault
from lab.stores import DeviceBytes

OUTAGE = "an outage: {changes}"
SLEPT = "this machine slept for {slept_s:.0f} s during the transfer"
MOST_ASLEEP_S = 0.1  # tolerance, because two clocks are read one after the other


@dataclass(frozen=True)
class Observation:
    """What the hosts counted during a transfer: ``observed``, ``samples`` by host, and socket buffers in bytes."""

    observed: Observed
    samples: dict[str, object]
    socket_buffers: Mapping[str, int]


@dataclass(frozen=True)
class TransferResult:
    """The result of one transfer. ``void`` says why it does not count, and is empty if it does.

    ``server`` is None if nobody logs in there. ``verified``: what was moved was compared byte by byte.
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
    """The counts right before or after a transfer; ``slept_s`` are the seconds that this machine has slept.

    ``server`` is None if nobody logs in there, ``store`` if nothing counts the bytes of its devices.
    """

    slept_s: float
    server: Counters | None
    store: DeviceBytes | None


def count_before(pair: Pair, store: MadeStore | None) -> Counts:
    """The counts before a transfer, the server's last. Raises LabFailure."""
    stored, slept_s = count_moved(pair, store), asleep_s()
    return Counts(slept_s, _count_server(pair), stored)


def count_after(pair: Pair, store: MadeStore | None) -> Counts:
    """The counts after a transfer, the server's first. Raises LabFailure."""
    server, slept_s = _count_server(pair), asleep_s()
    return Counts(slept_s, server, count_moved(pair, store))


def _count_server(pair: Pair) -> Counters | None:
    if Role.SERVER not in pair.roles:
        return None
    return pair.platforms[Role.SERVER].clock.counters(pair.interface(Role.SERVER))


def result_of(
    part: Part,
    before: Counts,
    after: Counts,
    timing: Timing,
    clients: Mapping[str, Counters],
    observation: Observation,
    unproven: str,
    more: Mapping[str, str] | None = None,
) -> TransferResult:
    """The result of a transfer in which ``part`` was the first client's.

    ``clients`` are the counts of each client, by name. ``unproven`` says why the transfer itself proves nothing; empty
    if it does. ``more`` is what else was in effect.
    """
    pair, case, store = part.pair, part.case, part.setup.store
    server = after.server.since(before.server) if after.server and before.server else None
    hosts = {**clients, "server": server}
    changes = {name: counted.carrier_changes if counted else None for name, counted in hosts.items()}
    observed = add_moved(observation.observed, store, before.store, after.store)
    observed = replace(observed, carrier_changes=sum(filter(None, changes.values())) or None)
    states = {Role.CLIENT: timing.counted.state} | ({Role.SERVER: after.server.state} if after.server else {})
    slept_s = after.slept_s - before.slept_s
    has_slept = pair.config.client.transport == "local" and slept_s >= MOST_ASLEEP_S
    void = SLEPT.format(slept_s=slept_s) if has_slept else describe_outage(changes) or unproven
    void = void or contradiction(case, states, observed, buffers_of(pair)) or find_fault(pair, store)
    others = dict(describe_others(Role.SERVER, case, server)) if server else {}
    effective = _effective(part, timing, states, {**others, **(more or {}), **observation.socket_buffers})
    return TransferResult(timing, server, effective, void, observed, observation.samples, keeps_what_it_moves(case))


def _effective(part: Part, timing: Timing, states: States, more: Mapping[str, str | int]) -> Effective:
    """What was in effect while the bytes moved, as read back from both hosts and from the mount."""
    case, setup = part.case, part.setup
    network = {f"{role}_{name}": value for role, state in states.items() for name, value in state.items()}
    is_known = case.direction is Direction.READ and Role.SERVER in states
    cache = {"server_cache": case.option("server_cache")} if is_known else {}
    with_ram_disk = ROLES if case.store == "ram" else (Role.CLIENT,)
    disks = {f"{role}_ram_disk": setup.ram_disks[role] for role in with_ram_disk}
    tool = {"clock": timing.clock, "flushed": timing.flushed, **part.versions, **describe_writer(part)}
    mount = {**setup.served.durability, **setup.attached.effective}
    made = {"server_store": setup.store.description, **setup.store.levels} if setup.store else {}
    return Effective.from_json({**network, **disks, **made, **mount, **cache, **tool, **more})


def describe_outage(changes: Mapping[str, int | None]) -> str:
    """Why a transfer does not count if links went up or down meanwhile, by how often each host's did."""
    cut = ", ".join(f"{number} carrier changes on the {name}" for name, number in changes.items() if number)
    return OUTAGE.format(changes=cut) if cut else ""
