"""The proof that a transfer was one: every byte of the payload crossed the client's data interface.

A session that is to have several channels may use others, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from lab.base.errors import LabFailure
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Counters
from lab.protocols import Driver
from lab.run.pair import Pair

NOTED = 0.01  # of the payload: what else a host says and hears over its other interfaces is less


def not_on_the_wire(pair: Pair, driver: Driver, path: str, case: Case, counted: Counters) -> str:
    """Why a transfer over what the client's driver attached at ``path`` was none; empty where every byte crossed."""
    sent, option = case.direction is Direction.WRITE, f"{case.protocol}.multichannel"
    moved = counted.tx_bytes if sent else counted.rx_bytes
    if moved >= case.size_bytes:
        return ""
    interface = pair.interface(Role.CLIENT)
    channels: Mapping[str, str] = {}
    with suppress(LabFailure, ValueError):  # the trial is void, whether or not the client can still say why
        channels = driver.find_channels(pair.sides[Role.CLIENT], path)
    others = {name: counted.others[name][0 if sent else 1] for name in channels if name in counted.others}
    if case.mount_options.get("multichannel") == "true" and moved + sum(others.values()) >= case.size_bytes:
        return ""
    named = [f"{name} ({kind}, {others.get(name, 'unknown')} bytes)" for name, kind in channels.items()]
    named = [name for name in named if not name.startswith(f"{interface} ")]
    told = f"it used {' and '.join(named)}, too: give {option} = [false] in the sweep" if named else ""
    reason = told or "something was cached"
    return f"only {moved} of {case.size_bytes} bytes crossed the client's interface {interface}: {reason}"


def describe_others(role: Role, case: Case, counted: Counters) -> Iterator[tuple[str, str]]:
    """What crossed a host's other interfaces meanwhile, by the name of its field; nothing where that was little."""
    busy = [
        f"{name}: {moved.tx_bytes} bytes sent, {moved.rx_bytes} received"
        for name, moved in counted.others.items()
        if max(moved) >= NOTED * case.size_bytes
    ]
    if busy:
        yield f"{role}_other_interfaces", "; ".join(busy)
