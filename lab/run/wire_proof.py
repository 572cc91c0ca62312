"""The proof that a transfer was one: every byte of the payload crossed the client's data interface.

Where a sweep asks for several channels of SMB, what crossed the interfaces of all its channels counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from lab import protocols
from lab.base.errors import LabFailure
from lab.base.untrusted import listing
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Counters
from lab.protocols import Driver
from lab.run.pair import Pair

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
