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
CHANGED = {Plot.WHOLE: "mtu", Plot.SUB: "tcp_space", Plot.SUB_SUB: "server"}  # the setting of each plot, as in JSON


@dataclass(frozen=True)
class Cost:
    """The cost of some blocks. ``changes`` counts the changes of each setting."""

    blocks: int
    trials: int
    changes: dict[str, int]
    bytes_moved: int
    estimated_s: float


def cost_of(
    sweep: Sweep,
    cases: Sequence[Case],
    blocks: Sequence[Sequence[Slot]],
    *,
    pace: Pace,
    made_anew: Container[str],
    image_bytes: int,
) -> Cost:
    """The cost of these blocks. A store among ``made_anew`` is made, and its server started, for each trial."""
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
    asked = (sweep.store_tools, sweep.workload.planned_size, sweep.bonnie_size)
    estimated_s = sum((
        pace.run_s(transfers, changes["tcp_space"], CEILING_SHOTS * networks, sweep.ceiling_seconds),
        len(stores) * store_shots.seconds(*asked, ASSUMED_BYTES_PER_S, sweep.bonnie_per_byte),
        pace.factor * SERVE_MOST_S * sum(case.store in made_anew for case in stores),
        sum(fills) / 100 * image_bytes / ASSUMED_BYTES_PER_S,
        _first_copies_s(sweep, slots),
    ))  # fmt: skip
    return Cost(len(blocks), len(slots), changes, _moved_bytes(sweep, transfers, stores), estimated_s)


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


def _first_copies_s(sweep: Sweep, slots: Sequence[Slot]) -> float:
    """Seconds to make what a second copy, or an operation on names, needs at the target."""
    trees = slots if sweep.workload.changed else []
    return sum(first_copy_s(slot.case.files, sweep.workload.planned_size) for slot in trees) + sum(
        first_copy_s(slot.case.files, 0) for slot in slots if slot.case.is_of_names
    )


def _moved_bytes(sweep: Sweep, transfers: Sequence[tuple[Case, bool]], stores: Sequence[Case]) -> int:
    """Bytes of all transfers, or of a sweep without a share, those that its stores read and write."""
    size_bytes = sweep.workload.planned_size
    if sweep.is_local:
        return len(stores) * store_shots.moved_bytes(sweep.store_tools, size_bytes, sweep.bonnie_size)
    return sum(case.size_bytes if case.is_of_names else case.clients * size_bytes for case, _ in transfers)
