"""Check that the trials of a run follow from its sweep and seed: which, in which order, and which were set aside.

Also check their times, and the load by others on a local lab's machine, because of which trials are set aside.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.templates import pattern_of
from lab.contribution.flaw import Flaw
from lab.contribution.plausible import Record, is_planned
from lab.design.blocks import Slot, block_slots
from lab.design.factors import DEFAULT, LOCAL, OPTIONS
from lab.design.plan import plan
from lab.design.sweep_file import Sweep, parse_sweep
from lab.results.json_object import RunJson
from lab.results.packed_run import RUN, TRIALS
from lab.results.run_folder import RunFolder
from lab.results.run_keys import DISTURBED_CORES, load_by_block
from lab.results.set_aside import ASIDE, DISTURBED, id_before, is_aside
from lab.results.trial import STORE_PROTOCOL, Trial, read_time
from lab.run.case.catalogue import CATALOGUE
from lab.run.ceilings.foreign_load import OTHERS, disturbance, load_of_transfers
from lab.run.transfer.recorded import plan_trial
from lab.run.transfer.result import SLEPT

# Fields of a trial that follow from the plan
PLANNED = (
    "case_id", "block", "position", "protocol", "tool", "direction", "workload", "store", "mtu", "tcp_space",
    "size_bytes", "files", "anchor",
)  # fmt: skip
COMPLETE = "complete"  # `ended` of a run that was not cut short begins with it


@dataclass(frozen=True)
class Planned:
    """The sweep of a run, and the slots of its blocks in their order."""

    sweep: Sweep
    slots: Sequence[Slot]

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The position of each trial among the slots, by its id."""
        return {slot.trial_id: place for place, slot in enumerate(self.slots)}

    def slot(self, trial_id: str) -> Slot | None:
        """The slot of a trial, also of one that was set aside; None if the plan has none."""
        place = self.places.get(id_before(trial_id))
        return None if place is None else self.slots[place]


def plan_again(lines: Sequence[tuple[int, Record]], folder: RunFolder) -> tuple[Planned | None, list[Flaw]]:
    """The plan of a run by its sweep and seed, for as many blocks as the run has; or None and why."""
    try:
        sweep, ordering = _sweep_of(folder), folder.ordering
        cases = plan(sweep, CATALOGUE, folder.left_out, ordering).cases
        last = max((record["block"] for _, record in lines), default=0)
        blocks = range(1, max(sweep.blocks, min(last, sweep.most_blocks)) + 1)
        slots = [slot for block in blocks for slot in block_slots(sweep, cases, block, ordering)]
    except (BadInput, ValueError) as error:
        problem = str(error).replace(f"{folder.path}/", "").removeprefix(f"{RUN}: ")
        return None, [Flaw(RUN, None, f"sweep_text: the order cannot be computed: {problem}")]
    return Planned(sweep, slots), []


def check_order(lines: Sequence[tuple[int, Record]], planned: Planned, run: RunJson) -> Iterator[Flaw]:
    """Trials (with their lines) that are not in the plan, in another place, with other levels, or missing."""
    sweep = planned.sweep
    if run.get("seed") != sweep.seed:
        yield Flaw(RUN, None, f"seed {run.get('seed')}: the sweep has {sweep.seed}")
    if sweep.is_local:  # its trials are shots of dd, whose number depends on the hosts
        return
    transfers = [(line, record) for line, record in lines if is_planned(record)]
    yield from _check_levels(transfers, planned)
    again = {id_before(record["trial_id"]) for _, record in lines if is_aside(record["trial_id"])}
    yield from _check_positions(transfers, {name: at for name, at in planned.places.items() if name not in again})
    yield from _check_missing({record["trial_id"] for _, record in transfers}, planned.slots, sweep, run)


def _sweep_of(folder: RunFolder) -> Sweep:
    """The sweep of a run, with the size that was chosen in the run. Raises BadInput, ValueError."""
    # A manifest that the sweep names is never read, because its path leads out of the contribution
    sweep = parse_sweep(str(folder.run.get("sweep_text", "")), Path(RUN), folder.manifest_path)
    size = folder.run.get("payload_bytes")
    if sweep.workload.size is not None or not size:
        return sweep
    if size < 0:
        raise ValueError(f"payload_bytes: {size} is no size of a payload")
    return sweep.sized(size)


def _check_levels(lines: Sequence[tuple[int, Record]], planned: Planned) -> Iterator[Flaw]:
    """Trials without a slot, and trials whose levels differ from their slot."""
    for line, record in lines:
        if (slot := planned.slot(record["trial_id"])) is None:
            yield Flaw(TRIALS, line, f"{record['trial_id']}: the sweep and its seed give no such trial")
            continue
        trial = plan_trial(slot, record["started_at"])
        expected = trial.to_json()
        for name in PLANNED:
            if record[name] != expected[name]:
                problem = f"{name} is {record[name]!r:.80}, and {expected[name]!r:.80} by sweep and seed"
                yield Flaw(TRIALS, line, f"{record['trial_id']}: {problem}")
        if differing := _differing_options(record["options"], trial.options):
            yield Flaw(TRIALS, line, f"{record['trial_id']}: options: {differing}: not as the sweep has it")


def _differing_options(stated: Mapping[str, str], planned: Mapping[str, str]) -> str:
    """The options whose levels differ from the plan. One that another version of the lab lacked had its usual level."""
    names = sorted({*stated, *planned})
    usual = {name: OPTIONS.get(name, DEFAULT) for name in names}
    return ", ".join(name for name in names if stated.get(name, usual[name]) != planned.get(name, usual[name]))


def _check_positions(lines: Sequence[tuple[int, Record]], places: Mapping[str, int]) -> Iterator[Flaw]:
    """Report trials in another order than their ``places``. Trials that were measured again have none."""
    placed = [(line, record["trial_id"]) for line, record in lines if record["trial_id"] in places]
    for (_, before), (line, trial_id) in pairwise(placed):
        if places[trial_id] < places[before]:
            yield Flaw(TRIALS, line, f"{trial_id} stands behind {before}, which comes after it by sweep and seed")


def _check_missing(present: Collection[str], slots: Sequence[Slot], sweep: Sweep, run: RunJson) -> Iterator[Flaw]:
    """Report slots without a trial before a later one that has one; in a complete run, any slot without a trial."""
    last = max((place for place, slot in enumerate(slots) if slot.trial_id in present), default=-1)
    due = slots[: last + 1]
    if str(run.get("ended", "")).startswith(COMPLETE):  # `lab measure` is, after any number of whole blocks
        blocks = max(0 if "target" in run else sweep.blocks, slots[last].block if last >= 0 else 1)
        due = [slot for slot in slots if slot.block <= blocks]
    for slot in due:
        if slot.trial_id not in present:
            yield Flaw(TRIALS, None, f"{slot.trial_id} ({slot.case.case_id}) is missing")


SLACK_S = 0.5  # the controller's clock may be adjusted a little during a run
CLOCK = 0.005  # relative difference between two clocks, far more than quartz clocks have
SECONDS = 1.0  # tolerance of times without a fraction
Timed = tuple[int, Record, float]  # line, trial, and its start


def check_times(lines: Sequence[tuple[int, Record]], run: RunJson) -> Iterator[Flaw]:
    """Trials (with their lines) that began before the trial above, during another one, or outside of the run."""
    timed = [
        (line, record, read_time(record["started_at"]).timestamp())
        for line, record in lines
        if record["protocol"] not in (STORE_PROTOCOL, LOCAL)  # shots of a store are noted together
    ]
    for (_, before, first), (line, record, begun) in pairwise(row for row in timed if is_planned(row[1])):
        if begun < first - SLACK_S:
            early = f"{first - begun:.1f} s before {before['trial_id']}, which stands above it"
            yield Flaw(TRIALS, line, f"{record['trial_id']} began {early}")
    by_start = sorted(timed, key=lambda row: row[2])
    yield from _overlapping(by_start)
    yield from _awake(by_start)
    yield from _outside(timed, run)


def _overlapping(timed: Sequence[Timed]) -> Iterator[Flaw]:
    for (_, before, first), (line, record, begun) in pairwise(timed):
        took_s = before["elapsed_s"] or 0.0
        if first + took_s * (1 - CLOCK) - SLACK_S > begun:
            after = f"{begun - first:.1f} s after {before['trial_id']}, which took {took_s:.1f} s"
            yield Flaw(TRIALS, line, f"{record['trial_id']} began {after}")


def _awake(timed: Sequence[Timed]) -> Iterator[Flaw]:
    """Trials during which the client is said to have slept, but the next trial began too soon."""
    for (line, record, begun), (_, _, following) in pairwise(timed):
        match = pattern_of(SLEPT).fullmatch(record["reason"])
        slept_s = float(match["slept_s"]) if match and match["slept_s"].isdecimal() else 0.0
        if following - begun < slept_s - SECONDS - SLACK_S:
            problem = f"{record['reason']}, and the next one began {following - begun:.1f} s after it"
            yield Flaw(TRIALS, line, f"{record['trial_id']}: {problem}")


def _outside(timed: Sequence[Timed], run: RunJson) -> Iterator[Flaw]:
    try:
        names = ("started_at", "finished_at")
        start, end = (read_time(run[name]).timestamp() if run.get(name) else None for name in names)
    except ValueError as error:
        yield Flaw("run.json", None, f"started_at or finished_at: {error}")
        return
    for line, record, begun in timed:
        if start is not None and begun < start - SECONDS - SLACK_S:
            yield Flaw(TRIALS, line, f"{record['trial_id']} began {start - begun:.0f} s before the run")
        took_s = (record["elapsed_s"] or 0.0) * (1 - CLOCK)
        if end is not None and begun + took_s > end + SECONDS + SLACK_S:
            yield Flaw(TRIALS, line, f"{record['trial_id']} ended {begun + took_s - end:.0f} s after the run")


CORES = re.compile(r"([0-9]{1,4}\.[0-9]) cores of the (?:client|server)(?: and )?")
ROUNDED_CORES = 0.05  # tolerance of cores with one decimal
TrialLine = tuple[int, Trial]


def check_loads(trials: Sequence[TrialLine], planned: Planned, run: RunJson) -> Iterator[Flaw]:
    """Loads of blocks that their trials contradict, and trials set aside without the rest of their block."""
    is_local = run.get("instance") is not None
    counting = [line for line in trials if not is_aside(line[1].trial_id)]
    for block, load in load_by_block(run).items() if is_local else ():
        computed = load_of_transfers(trial for _, trial in counting if trial.block == block)
        if computed and computed != load:
            yield Flaw(RUN, None, f"load: block {block}: {load}, and {computed} by what its trials counted")
    aside = sorted((line for line in trials if ASIDE in line[1].trial_id), key=_set)
    for (block, again), group in groupby(aside, key=_set):
        yield from _check_set(block, again, list(group), planned, is_local)


def _set(line: TrialLine) -> tuple[int, str]:
    """The block of a trial that was set aside, and the number of times that this block was."""
    return line[1].block, line[1].trial_id.partition(ASIDE)[2]


def _check_set(block: int, again: str, lines: Sequence[TrialLine], planned: Planned, is_local: bool) -> Iterator[Flaw]:
    """A block is set aside as a whole, for one reason; on one machine its own trials must show this reason."""
    present = {id_before(trial.trial_id) for _, trial in lines}
    for slot in planned.slots:
        if slot.block == block and slot.trial_id not in present:
            yield Flaw(TRIALS, None, f"{slot.trial_id}{ASIDE}{again} is missing: others of its block were set aside")
    computed = disturbance(load_of_transfers(trial for _, trial in lines)) if is_local else ""
    for line, trial in lines:
        reason = trial.reason.removeprefix(DISTURBED)
        if trial.reason != reason and not (reason == computed if is_local else _is_disturbance(reason)):
            cause = f"{computed or 'nobody disturbed it'} by what was counted" if is_local else "for no such load"
            yield Flaw(TRIALS, line, f"{trial.trial_id} was set aside ({reason:.80}): {cause}")


def _is_disturbance(reason: str) -> bool:
    match = pattern_of(OTHERS).fullmatch(reason)
    cores = [float(number) for number in CORES.findall(match["hosts"])] if match else []
    return bool(cores) and min(cores) > DISTURBED_CORES - ROUNDED_CORES
