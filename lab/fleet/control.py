"""The controller of a fleet: which task begins when, so that no two need the same machine at once."""

from __future__ import annotations

import math
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from lab.base import durable, signals
from lab.base.errors import BadInput, Interrupted, LabFailure
from lab.base.os_errors import explain
from lab.fleet import attempt
from lab.fleet.attempt import Ended, Order
from lab.fleet.claim import is_claimed
from lab.fleet.journal import NOT_COUNTED, Event, Outcome
from lab.fleet.plan import Plan, Task
from lab.fleet.queue import BAD_INPUT, HELD_S, Queue, TaskState, TaskStatus
from lab.fleet.scheduler import Scheduler
from lab.fleet.windows import Opening, Window, next_opening

Tell = Callable[[str], None]
ROUND_S = 0.2
LEAST_ROOM = 16 << 20  # bytes: a run has some MB
BUSY_S = 5.0  # until it is looked whether an earlier attempt has put things back
PLACES_S = 10.0  # so often it is looked whether workers are left


@dataclass(frozen=True)
class Programs:
    """The words before the arguments of what attempts start; empty: the lab's own (:class:`Order`)."""

    lab: tuple[str, ...] = ()
    look: tuple[str, ...] = ()


OWN_PROGRAMS = Programs()


@dataclass(frozen=True)
class Waiting:
    """A task that is not done; ``cut_off``: an attempt of it may have left something changed on its hosts."""

    task: Task
    attempts: int
    failures: int
    not_before: float
    cut_off: bool
    reason: str = ""


class Controller:
    """Works through a fleet whose queue this process has claimed."""

    def __init__(
        self, plan: Plan, queue: Queue, scheduler: Scheduler, tell: Tell, programs: Programs = OWN_PROGRAMS
    ) -> None:
        self.plan, self.queue, self.scheduler, self.tell, self.programs = plan, queue, scheduler, tell, programs
        self.order = {task.id: number for number, task in enumerate(plan.tasks)}
        self.waiting: dict[str, Waiting] = {}
        self.running: dict[str, Waiting] = {}  # by the key of the attempt
        self.paused: dict[str, float] = {}  # pairs that could not be used, until when they are left alone
        self.problem = ""  # why nothing more begins
        self._wait_told_until = 0.0
        self._suffix = secrets.token_hex(4)  # of keys: one that two fleets submit is one task to their scheduler
        self._places_due = 0.0
        self._workers = 1

    def run(self) -> None:
        """Until every task is done or failed, or the fleet is told to stop.

        Raises Interrupted once what ran has put everything back; LabFailure where the queue cannot be written to, or
        the scheduler is gone.
        """
        attempt.STOP.clear()
        self.queue.journal.mend()
        self.waiting = {one.task.id: _waiting(one) for one in self.queue.statuses(self.plan) if _is_left(one)}
        self.queue.journal.add(Event.RESUMED)
        try:
            while self._goes_on():
                time.sleep(ROUND_S)
        except Interrupted as error:
            with signals.deferred():
                self._stop_all()
            raise Interrupted(f"{error}; what is done is kept, `lab fleet resume` goes on", error.number) from error
        except LabFailure:
            attempt.STOP.set()
            raise
        if self.problem:
            raise LabFailure(self.problem, f"make room for {self.queue.path}; then `lab fleet resume` goes on")

    def _goes_on(self) -> bool:
        """One round; whether there is another. A signal is heard after it."""
        with signals.deferred():
            self._take_ended()
            if self.running and (self.is_stopped or time.monotonic() > self._places_due):
                self._check_places()
            if self.waiting and not self.is_closing:
                self._check_room()
            if not self.is_closing:
                self._begin_what_can()
            return bool(self.running) or (bool(self.waiting) and not self.is_closing)

    def _check_room(self) -> None:
        """Have nothing more begin on a disk that is nearly full: each task would fail, one after the other."""
        room = shutil.disk_usage(self.queue.path).free
        if room < LEAST_ROOM:
            self._close(f"{self.queue.path}: No space left but {room >> 10} KiB")

    def _close(self, problem: str) -> None:
        """Have nothing more begin."""
        if not self.problem:
            self.tell(f"{problem}: nothing more begins; what runs goes to its end")
        self.problem = self.problem or problem

    @property
    def is_closing(self) -> bool:
        """Whether nothing more is to begin."""
        return bool(self.problem) or self.is_stopped

    @property
    def is_stopped(self) -> bool:
        """Whether what runs was told to stop."""
        return attempt.STOP.is_set() or self.queue.stop_path.exists()

    def _stop_all(self) -> None:
        """Tell what runs to stop, and wait until it has put everything back."""
        attempt.STOP.set()
        with suppress(OSError):  # a full disk: attempts of this process have been told
            durable.create(self.queue.stop_path, b"")
        if self.running:
            self.tell(f"stopping: {len(self.running)} sweeps put their hosts back")
        while self._goes_on():
            time.sleep(ROUND_S)

    def _check_places(self) -> None:
        """Say where no worker is left; of a fleet that is stopped, wait for no attempt that no worker has."""
        workers, placed = self.scheduler.placed()
        self._places_due = time.monotonic() + PLACES_S
        if self.is_stopped:
            for key in set(self.running) - placed:
                self._give_up(key)
        elif self._workers and not workers:
            self.tell(f"no worker is left: {len(self.running)} sweeps wait for one; start one, or stop the fleet")
        self._workers = workers

    def _give_up(self, key: str) -> None:
        """Wait for an attempt no more; not where a worker that was lost left a run, which still puts things back."""
        task = self.running[key].task
        if not is_claimed(self.queue.folder(task) / "lock"):
            self.scheduler.withdraw(key)
            del self.running[key]
            self.tell(f"{task.id}: no worker has it; what it may have left changed is put back by `lab fleet resume`")

    # --- what has ended

    def _take_ended(self) -> None:
        for key, ended in self.scheduler.ended():
            self._take(self.running.pop(key), ended)

    def _take(self, one: Waiting, ended: Ended) -> None:
        self._write(
            Event.ENDED, one, outcome=ended.outcome, exit_code=ended.exit_code, seconds=ended.seconds, said=ended.reason
        )
        self._tell_ended(one, ended)
        if ended.outcome is Outcome.DONE:
            return
        is_kept_waiting = ended.outcome in (Outcome.BUSY, Outcome.HELD)
        cut_off = one.cut_off if is_kept_waiting else ended.outcome is Outcome.FAILED
        not_before = time.time() + self._pause_s(ended.outcome, cut_off)
        if ended.outcome is Outcome.HELD or (ended.outcome is Outcome.FAILED and ended.exit_code is None):
            self.paused[one.task.pair] = not_before  # no program ran: its other tasks would meet the same
        failures = one.failures + (ended.outcome not in NOT_COUNTED)
        if failures >= self.plan.attempts or (ended.exit_code == BAD_INPUT and ended.outcome is Outcome.FAILED):
            self.tell(f"{one.task.id}: failed, and is not tried again: `lab fleet resume` does")
            return
        self.waiting[one.task.id] = replace(
            one,
            failures=failures,
            not_before=not_before,
            cut_off=cut_off,
            reason=ended.reason if is_kept_waiting else "",
        )

    def _pause_s(self, outcome: Outcome, cut_off: bool) -> float:
        """How long until the next attempt; the session of a run that was cut off has a host for seconds yet."""
        held_s = BUSY_S if cut_off else HELD_S
        longest = {Outcome.BUSY: BUSY_S, Outcome.HELD: held_s, Outcome.FAILED: math.inf}.get(outcome, 0.0)
        return min(self.plan.retry_after, longest)

    def _tell_ended(self, one: Waiting, ended: Ended) -> None:
        if ended.outcome is Outcome.DONE:
            flaws = "" if not ended.exit_code else ", with trials that failed or are void"
            self.tell(f"{one.task.id}: done in {ended.seconds:.0f} s{flaws}")
        elif ended.reason != one.reason:  # what is tried again and again is said once
            verdict = " waits:" if ended.outcome in NOT_COUNTED else f" failed (attempt {one.attempts}):"
            self.tell(f"{one.task.id}:{verdict} {ended.reason}")

    # --- what begins

    def _begin_what_can(self) -> None:
        for one in list(self._can_begin(time.time())):
            if not self._write(Event.BEGAN, one):
                return
            del self.waiting[one.task.id]
            key = f"{self.plan.name}/{one.task.id}/{one.attempts}-{self._suffix}"
            self.running[key] = one
            self.scheduler.submit(self._order(one), key, one.task.priority, one.task.site)
            if not one.reason:
                self.tell(f"{one.task.id}: begins (attempt {one.attempts})")

    def _can_begin(self, now: float) -> Iterator[Waiting]:
        """What can begin now, with the number of its attempt: what was cut off first, then the most urgent."""
        free = self.scheduler.slots - len(self.running)
        taken = {machine for one in self.running.values() for machine in one.task.machines}
        reserved: dict[str, int] = {}  # machines that tasks wait for which come first, with their priority
        openings: dict[tuple[Window, ...], Opening] = {}
        soonest = math.inf
        for one in sorted(self.waiting.values(), key=lambda one: (not one.cut_off, self.order[one.task.id])):
            if free <= 0:
                return
            task = one.task
            if task.windows not in openings:
                openings[task.windows] = next_opening(task.windows, now)
            not_before = max(one.not_before, self.paused.get(task.pair, 0.0))
            begin = max(not_before, -math.inf if one.cut_off else openings[task.windows].begin)
            if begin > now:
                soonest = min(soonest, begin)
            elif taken.isdisjoint(task.machines) and not _are_reserved(task, reserved):
                free, soonest = free - 1, -math.inf
                taken |= task.machines
                yield replace(one, attempts=one.attempts + 1)
            else:
                for machine in task.machines:
                    reserved[machine] = max(task.priority, reserved.get(machine, task.priority))
        self._tell_wait(soonest)

    def _tell_wait(self, soonest: float) -> None:
        """Say, once, until when nothing can begin."""
        if not self.running and math.isfinite(soonest) and soonest > max(self._wait_told_until, time.time() + HELD_S):
            self._wait_told_until = soonest
            when = datetime.fromtimestamp(soonest).astimezone()
            self.tell(f"nothing can begin before {when:%a %H:%M}; {len(self.waiting)} tasks wait")

    def _order(self, one: Waiting) -> Order:
        task = one.task
        opening = next_opening(task.windows, time.time())
        deadline = opening.end if opening.begin <= time.time() else 0.0  # of what is but to be put back
        return Order(
            task=task.id, attempt=one.attempts, folder=str(self.queue.folder(task)), hosts_file=task.hosts_file,
            sweep_file=task.sweep_file, stop_file=str(self.queue.stop_path), deadline=deadline,
            lab=self.programs.lab, look=self.programs.look,
        )  # fmt: skip

    def _write(self, event: Event, one: Waiting, **more: object) -> bool:
        """Add a line to the journal; False, and nothing begins any more, where the disk is full."""
        try:
            self.queue.journal.add(event, one.task.id, one.attempts, **more)
        except OSError as error:
            self._close(explain(error))
            return False
        return True


def _are_reserved(task: Task, reserved: Mapping[str, int]) -> bool:
    """Whether a task of a higher priority waits for a machine of this one."""
    return any(reserved.get(machine, task.priority) > task.priority for machine in task.machines)


def _is_left(one: TaskStatus) -> bool:
    return one.state is not TaskState.DONE


def _waiting(one: TaskStatus) -> Waiting:
    """A task of the queue at the beginning: attempts that failed before count no more."""
    return Waiting(one.task, one.attempts, 0, 0.0, one.was_cut_off)


def check(plan: Plan, scheduler: Scheduler) -> None:
    """Raise BadInput where a pair of the plan is of a site that no worker reaches."""
    for task in plan.tasks:
        try:
            scheduler.check_sites([task.site])
        except BadInput as error:
            raise BadInput(f"{task.pair}: {error.message}", error.remedy) from error
