"""The proof that a transfer was one: every byte of the payload crossed the client's data interface."""

from __future__ import annotations

from contextlib import suppress

from lab.base.errors import LabFailure
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Counters
from lab.protocols import Driver
from lab.run.pair import Pair


def not_on_the_wire(pair: Pair, driver: Driver, path: str, case: Case, counted: Counters) -> str:
    """Why a transfer over what the client's driver attached at ``path`` was none; empty where every byte crossed."""
    moved = counted.tx_bytes if case.direction is Direction.WRITE else counted.rx_bytes
    if moved >= case.size_bytes:
        return ""
    interface, reason = pair.interface(Role.CLIENT), ""
    with suppress(LabFailure):  # the trial is void, whether or not the client can still say why
        reason = driver.explain_missing_bytes(pair.sides[Role.CLIENT], path, interface)
    reason = reason or "something was cached"
    return f"only {moved} of {case.size_bytes} bytes crossed the client's interface {interface}: {reason}"
