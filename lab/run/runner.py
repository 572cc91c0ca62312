"""Running a sweep: block by block to its end, to the time cap, or until the effects asked for are precise enough."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from lab import workloads
from lab.base.errors import LabFailure, RestoreError, cause_and_remedy
from lab.design.blocks import Slot, block_slots
from lab.design.plan import Plan
from lab.design.sweep_file import Sweep
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.results.trial import Trial, has_second_shots
from lab.run.case.mounting import add_tries
from lab.run.case.session import Session
from lab.run.ceilings import foreign_load, link_ceiling, store_ceiling
from lab.run.precision import Precision
from lab.run.transfer import most_streams
from lab.run.transfer.recorded import Recorded, add_measured, now, plan_trial
from lab.run.transfer.result import TransferResult
from lab.run.transfer.several_clients import SomeFailed
from lab.run.transfer.transfer import transfer
from lab.workloads.file import FLOOR_FILES_PER_S

MOST_REPEATS = 2  # of a disturbed block: who disturbs three times will do so again
SLACK_S = 30.0  # for a transfer beside moving bytes: a disk may have to spin up first


@dataclass(frozen=True)
class Ending:
    """How a run ended; ``not_ok`` counts failed and void trials, ``to_retry`` those that can be measured again.

    The texts are empty if all is well. ``early`` says why not all trials were run; ``imprecise`` which effects did not
    reach the precision of the sweep, and how wide each is; ``disturbed`` which blocks others disturbed; ``closed``
    which protocols were left out although somebody could correct that. ``failure`` is that of the first failed trial.
    """

    early: str
    not_ok: int
    imprecise: str = ""
    disturbed: str = ""
    closed: str = ""
    to_retry: int = 0
    failure: LabFailure | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """The text in run.json."""
        return "; ".join(filter(None, [self.early, self.imprecise])) or "complete"


@dataclass(frozen=True)
class Progress:
    """The report before and after each trial; ``trial`` is None before it.

    ``total`` counts the trials that are certain: in the least number of blocks, and in the block that runs. ``rates``
    are the bytes per second of the case's good trials so far. ``ceiling_bytes_per_s`` is what its network carries, if
    that was measured in this block. ``deadline`` (monotonic) is the run's, if it has one.
    """

    slot: Slot
    done: int
    total: int
    elapsed_s: float
    trial: Trial | None
    least_blocks: int
    most_blocks: int
    rates: tuple[float, ...] = ()
    ceiling_bytes_per_s: float | None = None
    deadline: float | None = None


class Runner:
    """Runs the slots of a plan that a run folder lacks, and appends each trial at once.

    ``repeat_disturbed``: a block that others disturbed is set aside and measured again, up to MOST_REPEATS times.
    ``retry_failed``: trials that failed in an earlier part of the run are set aside and measured again, once. With a
    ``deadline`` (monotonic), a run is complete if another block would end after it.
    """

    def __init__(
        self,
        session: Session,
        folder: RunFolder,
        sweep: Sweep,
        planned: Plan,
        watch: Callable[[Progress], None],
        most_failures: int | None = None,
        repeat_disturbed: bool = False,
        deadline: float | None = None,
        retry_failed: bool = False,
    ):
        self.session, self.folder, self.sweep, self.watch = session, folder, sweep, watch
        self.most_failures, self.repeat_disturbed, self.retry_failed = most_failures, repeat_disturbed, retry_failed
        self.recorded, self.plan, self.deadline = Recorded(folder), planned, deadline
        self.precision = Precision(folder, sweep, [effect.name for effect in self.plan.effects])
        self.failures = self.done = 0
        self.failure: LabFailure | None = None
        self.total = len(self.plan.slots)
        self.started = time.monotonic()

    def run(self) -> Ending:
        """Run what is left, until the time cap, or until ``most_failures`` trials in a row failed (None: never).

        If the sweep asks for a precision, blocks follow until it is reached, or the most blocks are done. Raises
        RestoreError if a setting could not be put back, and HostError if a host stays out of reach.
        """
        self.started = time.monotonic()
        for block in range(1, self.sweep.most_blocks + 1):
            slots = self._slots(block)
            if block > self.sweep.blocks:
                self.total += len(slots)
            if early := self._run_until_undisturbed(block, slots):
                return self._ending(early, block - 1)
            if block >= self.sweep.blocks and self.precision.is_reached(block):
                break
            if self._ends_late(block + 1):
                return replace(self._ending("", block), imprecise="")
        return self._ending("", block)

    def _ends_late(self, block: int) -> bool:
        """Whether this block would end after the deadline, if it takes as long as the mean block before."""
        now_s = time.monotonic()
        return self.deadline is not None and now_s + (now_s - self.started) / (block - 1) > self.deadline

    def _ending(self, early: str, blocks: int) -> Ending:
        reasons = {block: foreign_load.disturbance(load) for block, load in self.folder.load.items()}
        disturbed = "; ".join(f"in block {block} {why}" for block, why in reasons.items() if why)
        closed = "; ".join(f"{protocol}: {why}" for protocol, why in self.folder.run.get("closed", {}).items())
        to_retry = sum(len(self._to_retry(self._slots(block))) for block in sorted(self.recorded.failed_blocks))
        imprecise = self.precision.shortfall(blocks)
        return Ending(early, self.recorded.not_ok, imprecise, disturbed, closed, to_retry, self.failure)

    def _slots(self, block: int) -> list[Slot]:
        return block_slots(self.sweep, self.plan.cases, block, self.folder.ordering)

    def _run_until_undisturbed(self, block: int, slots: list[Slot]) -> str:
        """Run a block, and again if others disturbed it; returns why the run has to end, or nothing."""
        if self.retry_failed:
            self.recorded.set_failed_aside(self._to_retry(slots))
        early = self._run_block(block, slots)
        for _ in range(MOST_REPEATS if self.repeat_disturbed else 0):
            why = foreign_load.disturbance(self.folder.load.get(block, {}))
            if early or not why:
                break
            self.recorded.set_disturbed_aside(block, why)
            self.done -= len(slots)
            early = self._run_block(block, slots)
        return early

    def _to_retry(self, slots: Sequence[Slot]) -> set[str]:
        """The failed trials of a block, and the failed ceilings that none of its other trials has noted."""
        again, noted = set[str](), set[str]()
        for slot in slots:
            trial = self.recorded.get(slot.trial_id)
            stays = trial is not None and trial.status != "failed"
            again.add(slot.trial_id)
            (noted if stays else again).update(store_ceiling.ids(self.session.pair, slot, self.sweep))
            if self._measures_link:
                ids = link_ceiling.ids(slot)
                again.update(link_ceiling.ids(slot, link_ceiling.AFTER).values())
                # a trial notes the ceiling of its own direction only; a repeated one can measure both
                (noted if stays else again).update([ids[slot.case.direction]] if stays else ids.values())
        return self.recorded.failed(again - noted)

    def _run_block(self, block: int, slots: list[Slot]) -> str:
        """Run what is left of a block, and note the load meanwhile; returns why the run has to end, or nothing."""
        missing = [slot for slot in slots if not self._is_done(slot)]
        self.done += len(slots) - len(missing)
        last = link_ceiling.last_slots(slots) if self._measures_link and has_second_shots(self.folder.run) else []
        if not missing and not any(self._lacks_second_shot(slot) for slot in last):
            return ""
        self.session.layers.step_down(0)  # or the last plot of a block would also be the first of its mirror
        looks = [self._look_at_load()]
        early = self._run_slots(slots, last)
        during = foreign_load.load_of_transfers(self.recorded.of_block(block)) if self.session.on_one_machine else {}
        self.folder.note_load(block, during or foreign_load.mean([*looks, self._look_at_load()]))
        return early

    def _look_at_load(self) -> foreign_load.Load:
        """The load of others on two machines while the lab is idle; one machine is observed during transfers."""
        return {} if self.session.on_one_machine else foreign_load.measure_load(self.session.pair)

    def _run_slots(self, slots: Sequence[Slot], last: Sequence[Slot]) -> str:
        """Run what is left of these slots; returns why the run has to end, or nothing.

        After each slot of ``last`` comes the second shot at the ceilings of its network.
        """
        for slot in slots:
            if not self._is_done(slot) and (early := self._run_slot(slot)):
                return early
            if slot in last and self._lacks_second_shot(slot):
                self._measure_second_shot(slot)
        return ""

    def _is_done(self, slot: Slot) -> bool:
        """Whether a slot's trial is recorded, or all trials of a store by itself."""
        if slot.case.is_local:
            return store_ceiling.is_done(self.session.pair, slot, self.sweep, self.recorded)
        return slot.trial_id in self.recorded

    def _run_slot(self, slot: Slot) -> str:
        cap_s = self.sweep.time_cap
        if cap_s is not None and time.monotonic() - self.started > cap_s:
            least, most = len(self.plan.slots), self.plan.most.trials
            trials = f"{least}" if least == most else f"{least} to {most}"
            return f"the time cap of {cap_s:g} s was reached after {self.done} of {trials} trials"
        self._report(slot, None)
        if slot.case.is_local:
            trial = store_ceiling.measure_local_store(self.session, slot, self.sweep, self.recorded)
        else:
            trial = self._run_trial(slot)
            self.recorded.add(trial)
        self.done += 1
        self._report(slot, trial)
        self.failures = self.failures + 1 if trial.status == "failed" else 0
        if self.failures == self.most_failures:
            return f"stopped after {self.failures} failed trials in a row: {cause_and_remedy(trial.reason)}"
        if self.failures:  # the next trial starts from new servers and mounts
            self.session.recover()
        return ""

    def _report(self, slot: Slot, trial: Trial | None) -> None:
        elapsed_s, blocks = time.monotonic() - self.started, (self.sweep.blocks, self.sweep.most_blocks)
        of_case = self.recorded.of_case(slot.case.case_id)
        rates = tuple(good.size_bytes / good.elapsed_s for good in of_case if good.status == "ok" and good.elapsed_s)
        ceiling = link_ceiling.rate(self.recorded.get(link_ceiling.ids(slot)[slot.case.direction]))
        self.watch(Progress(slot, self.done, self.total, elapsed_s, trial, *blocks, rates, ceiling, self.deadline))

    def _run_trial(self, slot: Slot) -> Trial:
        planned = plan_trial(slot, now())
        self.session.mounting.failed.clear()
        try:
            planned = replace(planned, ceiling_bytes_per_s=self._link_ceiling(slot))
            store = store_ceiling.measure_store(self.session, slot, self.sweep, self.recorded)
            planned = replace(planned, started_at=now())
            measured = self._transfer(slot, planned.ceiling_bytes_per_s)
        except RestoreError as error:
            cause = error.failed_before()
            if isinstance(cause, LabFailure):
                self.recorded.add(replace(planned, status="failed", reason=cause.cause_first()))
            raise
        except LabFailure as error:
            self.failure = self.failure or error
            failed = replace(planned, status="failed", reason=error.cause_first())
            if isinstance(error, SomeFailed):
                failed = replace(failed, observed=Observed(together=error.together))
            return replace(failed, observed=add_tries(failed, self.session.mounting.failed))
        self.folder.append_samples(slot.trial_id, measured.samples)
        trial = add_measured(planned, measured, store_ceiling.add_ceiling(measured.observed, store))
        return replace(trial, observed=add_tries(trial, self.session.mounting.failed))

    def _transfer(self, slot: Slot, link_bytes_per_s: float | None) -> TransferResult:
        """Move the payload; several times for a case that asks how many streams play."""
        case = slot.case
        moving_s = self.sweep.workload.planned_size / self.sweep.slowest + (case.files - 1) / FLOOR_FILES_PER_S
        moving_s *= case.clients
        deadline_s = SLACK_S + moving_s + workloads.tool(case.tool).least_s(case)
        move = partial(transfer, self.session, trial_id=slot.trial_id, deadline_s=deadline_s)
        return most_streams.find(case, move, link_bytes_per_s) if most_streams.is_asked_for(case) else move(case)

    @property
    def _measures_link(self) -> bool:
        return self.session.pair.config.measures_link and not self.sweep.is_local

    def _link_ceiling(self, slot: Slot) -> float | None:
        """What the link carries in the slot's direction, bytes per second; measured if its block lacks it.

        None if no iperf3 answers at the server's end.
        """
        if not self._measures_link:
            return None
        ids = link_ceiling.ids(slot)
        if missing := self.recorded.missing(ids):
            rows = link_ceiling.rows(slot, missing, now())
            link_ceiling.measure(self.session, slot, rows, self.sweep.ceiling_seconds, self.recorded)
        return link_ceiling.rate(self.recorded.get(ids[slot.case.direction]))

    def _lacks_second_shot(self, slot: Slot) -> bool:
        return bool(self.recorded.missing(link_ceiling.ids(slot, link_ceiling.AFTER)))

    def _measure_second_shot(self, slot: Slot) -> None:
        """Measure once more what the slot's network carries; if that is not possible, it is a failed trial."""
        missing = self.recorded.missing(link_ceiling.ids(slot, link_ceiling.AFTER))
        rows = link_ceiling.rows(slot, missing, now())
        try:
            link_ceiling.measure(self.session, slot, rows, self.sweep.ceiling_seconds, self.recorded)
        except RestoreError:
            raise
        except LabFailure as error:
            for row in rows.values():
                self.recorded.add(replace(row, reason=error.cause_first()))
            self.session.recover()
