"""The proof that a transfer was one: every byte of the payload crossed the client's data interface.

Where a sweep asks for several channels of SMB, what crossed the interfaces of all its channels counts.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from lab import protocols
from lab.base.errors import LabFailure
from lab.base.untrusted import listing
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Counters
from lab.protocols import Driver
from lab.results.observed import Observed
from lab.results.together import Together
from lab.run.case.pair import Pair
from lab.run.transfer.in_effect import Buffers, States, not_in_effect
from lab.run.transfer.observation import not_cold
from lab.run.transfer.store_moved import not_from_devices

NOT_CROSSED = "only {moved} of {least} bytes crossed the client's interface {interface}: {reason}"
# As a share of the payload: what a host says and hears over other interfaces by itself is less, and is not noted
NOTED = 0.01


def not_on_the_wire(pair: Pair, driver: Driver, path: str, case: Case, counted: Counters) -> str:
    """Why a transfer over what the client's driver attached at ``path`` was none; empty where every byte crossed."""
    least, moved = least_bytes(case), payload_bytes(case, counted.tx_bytes, counted.rx_bytes)
    if moved >= least:
        return ""
    channels = _find_channels(pair, driver, path)
    elsewhere = {name: payload_bytes(case, *counted.others[name]) for name in channels if name in counted.others}
    if case.mount_options.get("multichannel") == "true" and moved + sum(elsewhere.values()) >= least:
        return ""
    interface = pair.interface(Role.CLIENT)
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
    """The payload, and of a tree what its protocol sends for each file beside: or that could stand for cached ones.

    One reply holds the names of many files.
    """
    is_by_file = case.files > 1 and not (case.is_of_names and case.direction is Direction.READ)
    of_files = case.files * protocols.find(case.protocol).least_file_bytes if is_by_file else 0
    return case.size_bytes + of_files


def describe_others(role: Role, case: Case, counted: Counters) -> Iterator[tuple[str, str]]:
    """What crossed a host's other interfaces meanwhile, by the name of its field; nothing where that was little."""
    busy = [
        f"{name}: {moved.tx_bytes} bytes sent, {moved.rx_bytes} received"
        for name, moved in counted.others.items()
        if max(moved) >= NOTED * case.size_bytes
    ]
    if busy:
        yield f"{role}_other_interfaces", "; ".join(busy)


def payload_bytes(case: Case, tx_bytes: int, rx_bytes: int) -> int:
    """The bytes in the direction that the payload takes, as the client counts them."""
    return tx_bytes if case.direction is Direction.WRITE else rx_bytes


def _find_channels(pair: Pair, driver: Driver, path: str) -> Mapping[str, str]:
    """The interfaces that the mount sends over; none where the client can no longer say, and then the trial is void."""
    with suppress(LabFailure, ValueError):
        return driver.find_channels(pair.sides[Role.CLIENT], path)
    return {}


MOST_SKEW_S = 0.05  # in which clients may start, or …
SKEW_SHARE = 0.01  # … in this share of the shortest transfer


def contradiction(case: Case, states: States, observed: Observed, buffers: Buffers) -> str:
    """Why a transfer does not count, by what its hosts read back and counted; empty where nothing of that says so.

    :mod:`lab.run.transfer.proof` looks at what crossed the wire. Raises LabFailure where a host read back
    something unreadable.
    """
    read_bytes = observed.server.disk_read_bytes if observed.server else None
    return (
        describe_skew(observed.together)
        or not_in_effect(case, states, buffers)
        or not_cold(ways_of(case, observed)[0], read_bytes)
        or not_from_devices(case, observed)
    )


def ways_of(case: Case, report: Observed) -> list[Case]:
    """The case as what it moved each way, its own direction first: a tool may read and write in one trial."""
    if case.is_of_names or not (requests := report.requests):
        return [case]
    moved = {Direction.READ: requests.read, Direction.WRITE: requests.write}
    ways = [replace(case, direction=way, size_bytes=of.bytes or 0) for way, of in moved.items() if of]
    return sorted(ways, key=lambda way: way.direction is not case.direction) or [case]


def describe_skew(together: Together | None) -> str:
    """Why the starts of several clients may lie too far apart; empty where they do not."""
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
