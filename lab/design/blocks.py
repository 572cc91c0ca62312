"""The running order: randomised complete blocks in pairs, each block a split-plot design, with anchors.

MTU is on whole plots, TCP buffers on sub-plots, what is served on sub-sub-plots; inside these, other factors come in
random order. The second block of a pair is the first one backwards. By chance alone, one MTU would come first in all of
three blocks one time in four, and be confounded with time.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from lab.base.groups import grouped
from lab.design.case import Case
from lab.design.factors import BY_NAME, Level, Plot, owner_of, plot_of

if TYPE_CHECKING:
    from lab.design.sweep_file import Sweep

Key: TypeAlias = Callable[[Case], Hashable]


class Ordering(StrEnum):
    """How the orders of two blocks depend on each other. run.json names it, so that a resumed run keeps its order."""

    MIRRORED = "mirrored"  # each second block is the one before, backwards
    INDEPENDENT = "independent"  # each block has its own random order, as in older runs


@dataclass(frozen=True)
class First:
    """How often each level of a factor came first in what contains its plots, such as MTU in a block."""

    factor: str
    within: str
    groups: int
    times: dict[Level, int]


@dataclass(frozen=True)
class Slot:
    """One place in the running order: a case, its block, and its position there, counted from 1.

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


def plot_factors(cases: Sequence[Case]) -> dict[Plot, tuple[str, ...]]:
    """The factors on each plot, with these cases' options of mounts, tools and stores."""
    owned = dict.fromkeys(name for case in cases for name, _ in case.options if owner_of(name))
    names = [*BY_NAME, *owned]
    return {plot: tuple(name for name in names if plot_of(name) is plot) for plot in Plot}


def plot_keys(cases: Sequence[Case]) -> dict[Plot, Key]:
    """The key of each plot. Cases share a plot if they have the same levels of its factors and of those outside it."""
    names: tuple[str, ...] = ()
    keys: dict[Plot, Key] = {}
    for plot, factors in plot_factors(cases).items():
        names += factors
        keys[plot] = partial(_levels, names)
    del keys[Plot.INSIDE]
    return keys


def _levels(names: Sequence[str], case: Case) -> Hashable:
    return tuple(case.level(name) for name in names)


def order(cases: Sequence[Case], seed: int, block: int, ordering: Ordering = Ordering.MIRRORED) -> list[Case]:
    """The cases of one block: in seeded random order, and in each second block the reverse of the one before.

    Factors that are expensive to change vary slowest (:class:`lab.design.factors.Plot`). The order of each group of
    cases, and of the cases in it, is random.
    """
    if ordering is Ordering.MIRRORED and block % 2 == 0:
        return order(cases, seed, block - 1)[::-1]
    chance = random.Random(f"{seed}/{block}")  # noqa: S311 – reproducible from the seed
    return _shuffle(cases, list(plot_keys(cases).values()), chance)


def _shuffle(cases: Sequence[Case], keys: Sequence[Key], chance: random.Random) -> list[Case]:
    """The cases in random order, grouped by ``keys[0]``, in each group by ``keys[1]``, and so on."""
    if not keys:
        mixed = list(cases)
        chance.shuffle(mixed)
        return mixed
    in_order = list(grouped((keys[0](case), case) for case in cases).values())
    chance.shuffle(in_order)
    return [case for group in in_order for case in _shuffle(group, keys[1:], chance)]


def block_slots(sweep: Sweep, cases: Sequence[Case], block: int, ordering: Ordering = Ordering.MIRRORED) -> list[Slot]:
    """One block in order, with anchors. It depends only on the sweep."""
    ordered = order(cases, sweep.seed, block, ordering)
    gaps = anchor_gaps(ordered, sweep.anchors)
    run: list[tuple[Case, bool]] = []
    for index in range(len(ordered) + 1):
        run += [(cases[0], True)] * gaps.count(index)
        run += [(case, False) for case in ordered[index : index + 1]]
    return [Slot(block, position, case, anchor) for position, (case, anchor) in enumerate(run, 1)]


def anchor_gaps(ordered: Sequence[Case], count: int) -> list[int]:
    """The places of anchors: a block's begin and end, and evenly between, at changes of MTU, TCP buffers or server."""
    last = len(ordered)
    between = count - 2
    if between <= 0:
        return [0, last][:count]
    boundaries: list[int] = []
    for key in plot_keys(ordered).values():
        if len(boundaries) < between:
            boundaries = [index for index in range(1, last) if key(ordered[index - 1]) != key(ordered[index])]
    free = boundaries if len(boundaries) >= between else list(range(1, last))
    gaps = [0, last]
    for number in range(1, between + 1):
        gaps.append(min(free, key=lambda gap: abs(gap - last * number / (count - 1))))
        free = [gap for gap in free if gap != gaps[-1]]
    return sorted(gaps)


def first_levels(slots: Sequence[Slot]) -> Iterator[First]:
    """How often each level came first, for each varied factor of a plot, without anchors."""
    run = [slot for slot in slots if not slot.anchor]
    cases = [slot.case for slot in run]
    keys, within, enclosing = plot_keys(cases), "block", None
    for plot, names in plot_factors(cases).items():
        if plot is Plot.INSIDE:
            return
        firsts = [next(group).case for _, group in itertools.groupby(run, partial(_place, enclosing))]
        for name in names:
            if len({case.level(name) for case in cases}) > 1:
                yield First(name, within, len(firsts), dict(Counter(case.level(name) for case in firsts)))
        within, enclosing = plot.value, keys[plot]


def _place(enclosing: Key | None, slot: Slot) -> Hashable:
    return slot.block, enclosing(slot.case) if enclosing else None
