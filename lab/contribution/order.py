"""Whether the trials of a run are those that its sweep, its seed and the lab's plan give, each in its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from lab.base.errors import BadInput
from lab.contribution.finding import Finding
from lab.contribution.plausible import Record, is_planned
from lab.design.blocks import Ordering, Slot, block_slots
from lab.design.factors import DEFAULT, OPTIONS
from lab.design.plan import plan
from lab.design.sweep_file import Sweep, parse_sweep
from lab.results.packed_run import RUN, TRIALS
from lab.results.run_folder import RunFolder
from lab.results.set_aside import ASIDE
from lab.results.trial import RunJson
from lab.run.case.catalogue import CATALOGUE
from lab.run.transfer.recorded import plan_trial

# Fields of a trial that the plan decides
PLANNED = (
    "case_id", "block", "position", "protocol", "tool", "direction", "workload", "store", "mtu", "tcp_space",
    "size_bytes", "files", "anchor",
)  # fmt: skip
COMPLETE = "complete"  # how `ended` begins where nothing ended a run early


@dataclass(frozen=True)
class Planned:
    """The sweep of a run, and the slots of its blocks in their order."""

    sweep: Sweep
    slots: Sequence[Slot]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each trial stands among the slots, by its id."""
        return {slot.trial_id: place for place, slot in enumerate(self.slots)}

    def slot(self, trial_id: str) -> Slot | None:
        """The slot of a trial, which may have been set aside; None where there is none."""
        place = self.places.get(trial_id.partition(ASIDE)[0])
        return None if place is None else self.slots[place]


def plan_again(lines: Sequence[tuple[int, Record]], folder: RunFolder) -> tuple[Planned | None, list[Finding]]:
    """The plan of a run by its sweep and seed, for as many blocks as it has; None where there is none, and why."""
    try:
        sweep = _sweep_of(folder)
        slots = list(_slots(sweep, folder.run, max((record["block"] for _, record in lines), default=0)))
    except (BadInput, ValueError) as error:
        what = str(error).replace(f"{folder.path}/", "").removeprefix(f"{RUN}: ")
        return None, [Finding(RUN, None, f"sweep_text: the order cannot be computed: {what}")]
    return Planned(sweep, slots), []


def check_order(lines: Sequence[tuple[int, Record]], planned: Planned, run: RunJson) -> Iterator[Finding]:
    """Trials that the plan has not, has elsewhere or has with other levels, and those that are missing.

    ``lines`` are the lines of trials.jsonl. A run that was cut short has the first slots of its plan, in its order.
    """
    sweep = planned.sweep
    if run.get("seed") != sweep.seed:
        yield Finding(RUN, None, f"seed {run.get('seed')}: the sweep has {sweep.seed}")
    if sweep.is_local:  # whose trials are shots of dd: the hosts decide how many
        return
    transfers = [(line, record) for line, record in lines if is_planned(record)]
    yield from _check_levels(transfers, planned.slots, planned.places)
    yield from _check_positions(transfers, planned.places)
    yield from _check_missing({record["trial_id"] for _, record in transfers}, planned.slots, sweep, run)


def _sweep_of(folder: RunFolder) -> Sweep:
    """The sweep of a run, with the size that was chosen in it. Raises BadInput, ValueError.

    A manifest that it names is never read: its path would lead out of the contribution, and none is in there.
    """
    text = str(folder.run.get("sweep_text", ""))
    sweep = parse_sweep(text, Path(RUN), folder.manifest_path)
    size = folder.run.get("payload_bytes")
    if sweep.workload.size is not None or not size:
        return sweep
    if size < 0:
        raise ValueError(f"payload_bytes: {size} is no size of a payload")
    return sweep.sized(size)


def _slots(sweep: Sweep, run: RunJson, blocks: int) -> Iterator[Slot]:
    """The places of as many blocks as the run has, and of those that it should have."""
    ordering = Ordering(run.get("ordering", Ordering.INDEPENDENT))
    cases = plan(sweep, CATALOGUE, dict(run.get("left_out", {})), ordering).cases
    for block in range(1, max(sweep.blocks, min(blocks, sweep.most_blocks)) + 1):
        yield from block_slots(sweep, cases, block, ordering)


def _check_levels(
    lines: Sequence[tuple[int, Record]], slots: Sequence[Slot], places: Mapping[str, int]
) -> Iterator[Finding]:
    """Trials of no slot, and with other levels than their slot has."""
    for line, record in lines:
        place = places.get(record["trial_id"])
        if place is None:
            yield Finding(TRIALS, line, f"{record['trial_id']}: the sweep and its seed give no such trial")
            continue
        planned = plan_trial(slots[place], record["started_at"]).to_json()
        for name in PLANNED:
            if record[name] != planned[name]:
                what = (
                    f"{record['trial_id']}: {name} is {record[name]!r:.80}, and {planned[name]!r:.80} by sweep and seed"
                )
                yield Finding(TRIALS, line, what)
        if differing := _differing_options(record["options"], planned["options"]):
            yield Finding(TRIALS, line, f"{record['trial_id']}: options: {differing}: not as the sweep has it")


def _differing_options(stated: Mapping[str, str], planned: Any) -> str:
    """The options whose levels are not the planned ones, by name; empty where all are.

    One that another version of the lab lacks had its usual level there.
    """
    names = sorted({*stated, *planned})
    usual = {name: OPTIONS.get(name, DEFAULT) for name in names}
    return ", ".join(name for name in names if stated.get(name, usual[name]) != planned.get(name, usual[name]))


def _check_positions(lines: Sequence[tuple[int, Record]], places: Mapping[str, int]) -> Iterator[Finding]:
    """Trials that stand behind one that comes after them."""
    placed = [
        (line, record["trial_id"], places[record["trial_id"]]) for line, record in lines if record["trial_id"] in places
    ]
    for (_, before, first), (line, trial_id, place) in pairwise(placed):
        if place < first:
            yield Finding(TRIALS, line, f"{trial_id} stands behind {before}, which comes after it by sweep and seed")


def _check_missing(present: Collection[str], slots: Sequence[Slot], sweep: Sweep, run: RunJson) -> Iterator[Finding]:
    """Slots without a trial before the last one that has one; of a complete run all of its blocks, and all of these.

    `lab measure` is complete when its time is over, after whole blocks.
    """
    last = max((place for place, slot in enumerate(slots) if slot.trial_id in present), default=-1)
    due = slots[: last + 1]
    if str(run.get("ended", "")).startswith(COMPLETE):
        blocks = max(0 if "target" in run else sweep.blocks, slots[last].block if last >= 0 else 1)
        due = [slot for slot in slots if slot.block <= blocks]
    for slot in due:
        if slot.trial_id not in present:
            yield Finding(TRIALS, None, f"{slot.trial_id} ({slot.case.case_id}) is missing")
