"""The cost of a sweep's blocks: what has to be done in them, the bytes moved, and the seconds."""

import itertools
from collections.abc import Container, Sequence
from dataclasses import dataclass

from lab.design import store_shots
from lab.design.blocks import Key, Slot, plot_keys
from lab.design.case import Case
from lab.design.factors import Plot
from lab.design.option_levels import fill_of
from lab.design.pace import ASSUMED_BYTES_PER_S, SERVE_MOST_S, Pace, first_copy_s
from lab.design.sweep_file import Sweep

CEILING_SHOTS = 2  # of the link, for each network in a block: before its trials and after
CHANGED = {
    Plot.WHOLE: "mtu",
    Plot.SUB: "tcp_space",
    Plot.SUB_SUB: "server",
}  # the setting of each plot, as in JSON


@dataclass(frozen=True)
class Cost:
    """The cost of some blocks. ``changes`` counts the changes of each setting."""

    blocks: int
    trials: int
    changes: dict[str, int]
    bytes_moved: int
    estimated_s: float


@dataclass(frozen=True)
class _Work:
    """What has to be done. ``transfers`` are cases, each with whether its server is started.

    ``networks`` counts the networks whose link is measured, ``stores`` are cases whose store is measured by itself, and
    ``fills`` has the percentage of each filling of a store.
    """

    slots: Sequence[Slot]
    changes: dict[str, int]
    transfers: Sequence[tuple[Case, bool]]
    networks: int
    stores: Sequence[Case]
    fills: Sequence[int]


def cost_of(
    sweep: Sweep,
    cases: Sequence[Case],
    blocks: Sequence[Sequence[Slot]],
    *,
    pace: Pace,
    made_anew: Container[str],
    image_bytes: int,
) -> Cost:
    """The cost of these blocks.

    A store among ``made_anew`` is made, and its server started, for each trial. ``image_bytes`` is the size of a file
    system that the lab makes.
    """
    work = _work_of(sweep, cases, blocks, made_anew)
    remade = sum(case.store in made_anew for case in work.stores)
    estimated_s = sum((
        pace.run_s(work.transfers, work.changes["tcp_space"], CEILING_SHOTS * work.networks, sweep.ceiling_seconds),
        _stores_s(sweep, work),
        pace.factor * SERVE_MOST_S * remade,
        sum(work.fills) / 100 * image_bytes / ASSUMED_BYTES_PER_S,
        _first_copies_s(sweep, work.slots),
    ))  # fmt: skip
    return Cost(len(blocks), len(work.slots), work.changes, _moved_bytes(sweep, work), estimated_s)


def _work_of(sweep: Sweep, cases: Sequence[Case], blocks: Sequence[Sequence[Slot]], made_anew: Container[str]) -> _Work:
    slots = [slot for block in blocks for slot in block]
    keys = plot_keys(cases)
    changes = {CHANGED[plot]: _count_changes(slots, key) for plot, key in keys.items()}
    starts = _starts_server(slots, keys[Plot.SUB_SUB], made_anew)
    changes[CHANGED[Plot.SUB_SUB]] = sum(starts)
    shared = [] if sweep.is_local else slots
    transfers = [(slot.case, start) for slot, start in zip(shared, starts, strict=False)]
    stores = _measured_by_themselves(slots, made_anew)
    stood_up = [*(case for case, _ in transfers), *stores]
    fills = [percent for case in stood_up if (percent := fill_of(case.store_options))]
    if fills:
        changes["fill"] = len(fills)
    networks = len({(slot.block, keys[Plot.SUB](slot.case)) for slot in shared})
    return _Work(slots, changes, transfers, networks, stores, fills)


def _count_changes(slots: Sequence[Slot], key: Key) -> int:
    return sum(1 for _ in itertools.groupby((slot.block, key(slot.case)) for slot in slots))


def _starts_server(slots: Sequence[Slot], key: Key, made_anew: Container[str]) -> list[bool]:
    """Whether the server is started for each slot. Cases with the same ``key`` share a server."""
    serving = [(slot.block, key(slot.case)) for slot in slots]
    return [
        index == 0 or now != serving[index - 1] or slots[index].case.store in made_anew
        for index, now in enumerate(serving)
    ]


def _measured_by_themselves(slots: Sequence[Slot], made_anew: Container[str]) -> list[Case]:
    """One case for each store that is measured by itself in a block."""
    cases = {
        (slot.block, slot.case.store, *slot.case.store_options.items()): slot.case
        for slot in slots
        if slot.case.store == "disk" or slot.case.store in made_anew
    }
    return list(cases.values())


def _stores_s(sweep: Sweep, work: _Work) -> float:
    """Seconds in which stores are measured by themselves."""
    asked = (sweep.store_tools, sweep.workload.planned_size, sweep.bonnie_size)
    return len(work.stores) * store_shots.seconds(*asked, ASSUMED_BYTES_PER_S, sweep.bonnie_per_byte)


def _first_copies_s(sweep: Sweep, slots: Sequence[Slot]) -> float:
    """Seconds to make what a second copy, or an operation on names, needs at the target."""
    size_bytes = sweep.workload.planned_size
    trees = [slot.case for slot in slots] if sweep.workload.changed else []
    return sum(first_copy_s(case.files, size_bytes) for case in trees) + sum(
        first_copy_s(slot.case.files, 0) for slot in slots if slot.case.is_of_names
    )


def _moved_bytes(sweep: Sweep, work: _Work) -> int:
    """Bytes of all transfers, or of a sweep without a share, those that its stores read and write."""
    size_bytes = sweep.workload.planned_size
    if sweep.is_local:
        return len(work.stores) * store_shots.moved_bytes(sweep.store_tools, size_bytes, sweep.bonnie_size)
    return sum(case.size_bytes if case.is_of_names else case.clients * size_bytes for case, _ in work.transfers)
