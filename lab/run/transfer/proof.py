"""Proof that a transfer counts: by the bytes that crossed the wire, and by what the hosts read back and counted.

Every byte of the payload must cross the client's data interface. If a sweep asks for several channels of SMB, the
interfaces of all its channels count.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from lab import protocols
from lab.base.errors import LabFailure
from lab.base.untrusted import listing
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Counters
from lab.results.observed import Observed
from lab.results.together import Together
from lab.run.case.pair import Pair
from lab.run.transfer.part import Part
from lab.run.transfer.store_moved import not_from_devices

NOT_CROSSED = "only {moved} of {least} bytes crossed the client's interface {interface}: {reason}"
# As a share of the payload; other traffic of a host is less
NOTED = 0.01
MOST_SKEW_S = 0.05  # in which clients may start, or …
SKEW_SHARE = 0.01  # … in this share of the shortest transfer

States: TypeAlias = Mapping[Role, Mapping[str, str]]  # what each host read back of its settings after a transfer
Buffers: TypeAlias = Mapping[Role, Callable[[Mapping[str, str]], tuple[int, ...]]]  # TCP buffers in a state, by host


def not_on_the_wire(part: Part, case: Case, counted: Counters) -> str:
    """Why the bytes of ``case`` did not all cross the client's data interface; empty if they did."""
    least, moved = least_bytes(case), payload_bytes(case, counted.tx_bytes, counted.rx_bytes)
    if moved >= least:
        return ""
    channels: Mapping[str, str] = {}
    with suppress(LabFailure, ValueError):  # if the client can no longer tell, the trial is void
        driver = part.setup.served.drivers[Role.CLIENT]
        channels = driver.find_channels(part.pair.sides[Role.CLIENT], part.setup.attached.path)
    elsewhere = {name: payload_bytes(case, *counted.others[name]) for name in channels if name in counted.others}
    if case.mount_options.get("multichannel") == "true" and moved + sum(elsewhere.values()) >= least:
        return ""
    interface = part.pair.interface(Role.CLIENT)
    others = [
        f"{name} ({kind}, {elsewhere.get(name, 'unknown')} bytes)"
        for name, kind in channels.items()
        if name != interface
    ]
    reason = "something was cached"
    by_way = [name for name, other in counted.others.items() if payload_bytes(case, *other) >= least]
    if by_way and moved < least / 2:
        reason = f"they crossed {listing(by_way)}: the way to the server is another one than before"
    if others:
        reason = f"it used {' and '.join(others)}, too: give {case.protocol}.multichannel = [false] in the sweep"
    return NOT_CROSSED.format(moved=moved, least=least, interface=interface, reason=reason)


def least_bytes(case: Case) -> int:
    """The payload, and the least that the protocol sends for each file of a tree, which could hide cached bytes.

    One reply holds the names of many files.
    """
    is_by_file = case.files > 1 and not (case.is_of_names and case.direction is Direction.READ)
    return case.size_bytes + (case.files * protocols.find(case.protocol).least_file_bytes if is_by_file else 0)


def payload_bytes(case: Case, tx_bytes: int, rx_bytes: int) -> int:
    """The bytes in the payload's direction, as the client counts them."""
    return tx_bytes if case.direction is Direction.WRITE else rx_bytes


def describe_others(role: Role, case: Case, counted: Counters) -> Iterator[tuple[str, str]]:
    """What crossed a host's other interfaces meanwhile, by the name of its field; nothing if it was little."""
    busy = [
        f"{name}: {moved.tx_bytes} bytes sent, {moved.rx_bytes} received"
        for name, moved in counted.others.items()
        if max(moved) >= NOTED * case.size_bytes
    ]
    if busy:
        yield f"{role}_other_interfaces", "; ".join(busy)


def contradiction(case: Case, states: States, observed: Observed, buffers: Buffers) -> str:
    """Why a transfer does not count, by what hosts read back and counted; else empty. Raises LabFailure."""
    read_bytes = observed.server.disk_read_bytes if observed.server else None
    return (
        describe_skew(observed.together)
        or not_in_effect(case, states, buffers)
        or not_cold(ways_of(case, observed)[0], read_bytes)
        or not_from_devices(case, observed)
    )


def ways_of(case: Case, report: Observed) -> list[Case]:
    """The case for each direction that bytes moved in, its own first: a tool may read and write in one trial."""
    if case.is_of_names or not (requests := report.requests):
        return [case]
    moved = {Direction.READ: requests.read, Direction.WRITE: requests.write}
    ways = [replace(case, direction=way, size_bytes=of.bytes or 0) for way, of in moved.items() if of]
    return sorted(ways, key=lambda way: way.direction is not case.direction) or [case]


def describe_skew(together: Together | None) -> str:
    """Why the starts of several clients may lie too far apart; empty if they do not."""
    if together is None or not (rows := together.clients):
        return ""
    shortest_s = min((row.ended_s or 0.0) - (row.started_s or 0.0) for row in rows)
    skew_s, bound_s = together.skew_s or 0.0, together.skew_bound_s or 0.0
    if skew_s + bound_s <= max(MOST_SKEW_S, SKEW_SHARE * shortest_s):
        return ""
    late = max(rows, key=lambda row: row.started_s or 0.0)
    return (
        f"the clients did not start together: {late.name} started {skew_s:.3f} s after the first "
        f"(known to {bound_s:.3f} s), and the shortest transfer took {shortest_s:.2f} s"
    )


def buffers_of(pair: Pair) -> Buffers:
    """How the platforms of both hosts read TCP buffers."""
    return {role: pair.platforms[role].settings.tcp_buffers_in for role in pair.roles}


def not_in_effect(case: Case, states: States, buffers: Buffers) -> str:
    """Which setting was not as the case says, as read after the transfer; empty if all were. Raises LabFailure."""
    for role, state in states.items():
        if state.get("mtu") != str(case.mtu):
            return f"the MTU of the {role} was {state.get('mtu')} during the transfer, not {case.mtu}"
        if case.tcp_space != "default":
            try:
                sizes = buffers[role](state)
            except (LookupError, ValueError) as error:
                raise LabFailure(f"the TCP buffers cannot be read from {dict(state)}", host=role) from error
            if set(sizes) != {case.tcp_space}:
                return f"the TCP buffers of the {role} were {sizes} during the transfer, not {case.tcp_space}"
    return ""


def not_cold(case: Case, read_bytes: int | None) -> str:
    """Why a cold read did not come from the server's disks; empty if it did, or is no cold read."""
    if case.direction is not Direction.READ or case.option("server_cache") != "cold":
        return ""
    if read_bytes is None:
        return "what the server read from its disks is not counted, so that nothing proves a cold read"
    if read_bytes < case.size_bytes:
        return f"only {read_bytes} of {case.size_bytes} bytes were read from the server's disks: its cache was not cold"
    return ""
