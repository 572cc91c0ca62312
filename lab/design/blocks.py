"""The running order: randomised complete blocks, each a split-plot design, with anchors.

MTU stands on whole plots, TCP buffers on sub-plots of these, what is served on sub-plots of those, and inside them the
other factors come in random order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lab.design.case import Case
from lab.design.sweep_file import Sweep


@dataclass(frozen=True)
class Slot:
    """One place in the running order: a case, and where it stands. ``block`` and ``position`` count from 1.

    An ``anchor`` is an extra trial of the block's first case, to expose drift.
    """

    block: int
    position: int
    case: Case
    anchor: bool = False

    @property
    def trial_id(self) -> str:
        """Unique in a run, and the same when the run is resumed."""
        return f"b{self.block:03d}-{'a' if self.anchor else ''}{self.position:04d}"


def order(cases: Sequence[Case], seed: int, block: int) -> list[Case]:
    """The cases of one block in its seeded random order.

    What is expensive to change varies slowest, in an order that is itself random in each block: MTU (both links go
    down and up), then TCP buffers (servers restart, for sockets take them when they are made), then protocol and
    store. The cases inside each of these groups come in random order.
    """
    return _shuffled(cases, (_mtu, _tcp_space, _served), random.Random(f"{seed}/{block}"))


def _shuffled(cases: Sequence[Case], keys: Sequence[Callable[[Case], Any]], chance: random.Random) -> list[Case]:
    """The cases in random order, those of equal ``keys[0]`` together, and among them those of equal ``keys[1]``, …"""
    if not keys:
        mixed = list(cases)
        chance.shuffle(mixed)
        return mixed
    groups: dict[Any, list[Case]] = {}
    for case in cases:
        groups.setdefault(keys[0](case), []).append(case)
    in_order = list(groups.values())
    chance.shuffle(in_order)
    return [case for group in in_order for case in _shuffled(group, keys[1:], chance)]


def _served(case: Case) -> Any:
    return case.protocol, case.store, case.option("server_sync"), case.mount_options.get("server")


def _tcp_space(case: Case) -> Any:
    return case.tcp_space


def _mtu(case: Case) -> Any:
    return case.mtu


def _network(case: Case) -> Any:
    return case.mtu, case.tcp_space


def _server(case: Case) -> Any:
    return case.mtu, case.tcp_space, _served(case)


def block_slots(sweep: Sweep, cases: Sequence[Case], block: int) -> list[Slot]:
    """One block in its order, anchors included; the same for a sweep and seed."""
    ordered = order(cases, sweep.seed, block)
    gaps = anchor_gaps(ordered, sweep.anchors)
    run: list[tuple[Case, bool]] = []
    for index in range(len(ordered) + 1):
        run += [(cases[0], True)] * gaps.count(index)
        run += [(case, False) for case in ordered[index : index + 1]]
    return [Slot(block, position, case, anchor) for position, (case, anchor) in enumerate(run, 1)]


def anchor_gaps(ordered: Sequence[Case], count: int) -> list[int]:
    """Before which cases of a block the anchors stand: its begin and end, and evenly between them.

    Those between stand where MTU changes anyway; if that is too seldom, where TCP buffers do, then the server.
    """
    last = len(ordered)
    between = count - 2
    if between <= 0:
        return [0, last][:count]
    boundaries: list[int] = []
    keys: tuple[Callable[[Case], Any], ...] = (_mtu, _network, _server)
    for key in keys:
        if len(boundaries) < between:
            boundaries = [index for index in range(1, last) if key(ordered[index - 1]) != key(ordered[index])]
    free = boundaries if len(boundaries) >= between else list(range(1, last))
    gaps = [0, last]
    for number in range(1, between + 1):
        gaps.append(min(free, key=lambda gap: abs(gap - last * number / (count - 1))))
        free = [gap for gap in free if gap != gaps[-1]]
    return sorted(gaps)
