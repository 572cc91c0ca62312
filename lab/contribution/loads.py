"""Check the load by others on a local lab's machine, and the trials that were set aside because of it."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from lab.base.templates import pattern_of
from lab.contribution.flaw import Flaw
from lab.contribution.order import Planned
from lab.results.json_object import RunJson
from lab.results.packed_run import RUN, TRIALS
from lab.results.run_keys import DISTURBED_CORES, load_by_block
from lab.results.set_aside import ASIDE, DISTURBED, id_before, is_aside
from lab.results.trial import Trial
from lab.run.ceilings.foreign_load import OTHERS, disturbance, load_of_transfers

CORES = re.compile(r"([0-9]{1,4}\.[0-9]) cores of the (?:client|server)(?: and )?")
ROUNDED = 0.05  # tolerance of cores with one decimal
Line = tuple[int, Trial]


def check_loads(trials: Sequence[Line], planned: Planned, run: RunJson) -> Iterator[Flaw]:
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


def _set(line: Line) -> tuple[int, str]:
    """The block of a trial that was set aside, and the number of times that this block was."""
    return line[1].block, line[1].trial_id.partition(ASIDE)[2]


def _check_set(block: int, again: str, lines: Sequence[Line], planned: Planned, is_local: bool) -> Iterator[Flaw]:
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
    return bool(cores) and min(cores) > DISTURBED_CORES - ROUNDED
