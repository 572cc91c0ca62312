"""The controller of a fleet: begins tasks in such an order that no two need the same machine at once."""

import math
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from lab.base import durable, signals
from lab.base.errors import Interrupted, LabFailure
from lab.base.os_errors import explain
from lab.fleet import attempt
from lab.fleet.attempt import OWN_PROGRAMS, Ended, Order, Programs
from lab.fleet.journal import NOT_COUNTED, Event, Outcome
from lab.fleet.plan import Plan, Task
from lab.fleet.queue import BAD_INPUT, HELD_S, Queue, TaskState, is_claimed
from lab.fleet.scheduler import Scheduler
from lab.fleet.windows import Opening, Window, next_opening

ROUND_S = 0.2
LEAST_ROOM = 16 << 20  # bytes: a run writes some MB
BUSY_S = 5.0  # pause before a task whose earlier attempt still restores its hosts
WORKERS_S = 10.0  # interval between two looks at the workers


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
        self,
        plan: Plan,
        queue: Queue,
        scheduler: Scheduler,
        tell: Callable[[str], None],
        programs: Programs = OWN_PROGRAMS,
    ) -> None:
        self.plan, self.queue, self.scheduler, self.tell, self.programs = plan, queue, scheduler, tell, programs
        self.order = {task.id: number for number, task in enumerate(plan.tasks)}
        self.waiting: dict[str, Waiting] = {}
        self.running: dict[str, Waiting] = {}  # by the key of the attempt
        self.paused: dict[str, float] = {}  # until when a pair that could not be used is left alone
        self.problem = ""  # why nothing more begins
        self._wait_told_until = 0.0
        self._suffix = secrets.token_hex(4)  # keeps the keys of two fleets apart in one scheduler
        self._next_look_at_workers = 0.0
        self._workers = 1

    def run(self) -> None:
        """Work until every task is done or failed, or the fleet is told to stop.

        Raises Interrupted once all running sweeps have restored their hosts; LabFailure if the queue cannot be written
        or the scheduler is gone.
        """
        attempt.STOP.clear()
        self.queue.journal.mend()
        self.waiting = {  # earlier failures no longer count
            status.task.id: Waiting(status.task, status.attempts, 0, 0.0, status.was_cut_off)
            for status in self.queue.statuses(self.plan)
            if status.state is not TaskState.DONE
        }
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
        """Do one round; True if another follows. A signal takes effect after the round."""
        with signals.deferred():
            for key, ended in self.scheduler.ended():
                self._take(self.running.pop(key), ended)
            if self.running and (self.is_stopped or time.monotonic() > self._next_look_at_workers):
                self._check_workers()
            if self.waiting and not self.is_closing:
                size, _, room = shutil.disk_usage(self.queue.path)
                if size and room < LEAST_ROOM:  # one task after the other would fail; FUSE may tell 0 of 0
                    self._close(f"{self.queue.path}: No space left but {room >> 10} KiB")
            if not self.is_closing:
                self._begin_what_can()
            return bool(self.running) or (bool(self.waiting) and not self.is_closing)

    def _close(self, problem: str) -> None:
        if not self.problem:
            self.tell(f"{problem}: nothing more begins; what runs goes to its end")
        self.problem = self.problem or problem

    @property
    def is_closing(self) -> bool:
        """Whether nothing more may begin."""
        return bool(self.problem) or self.is_stopped

    @property
    def is_stopped(self) -> bool:
        """Whether the running sweeps were told to stop."""
        return attempt.STOP.is_set() or self.queue.stop_path.exists()

    def _stop_all(self) -> None:
        """Tell the running sweeps to stop, and wait until they have restored their hosts."""
        attempt.STOP.set()
        with suppress(OSError):  # the disk is full: the attempts of this process have been told anyway
            durable.create(self.queue.stop_path, b"")
        if self.running:
            self.tell(f"stopping: {len(self.running)} sweeps restore their hosts")
        while self._goes_on():
            time.sleep(ROUND_S)

    def _check_workers(self) -> None:
        """Report when no worker is left. When stopping, do not wait for attempts whose worker is gone."""
        workers, placed = self.scheduler.placed()
        self._next_look_at_workers = time.monotonic() + WORKERS_S
        if self.is_stopped:
            for key in set(self.running) - placed:
                task = self.running[key].task
                if not is_claimed(self.queue.folder(task) / "lock"):  # else its run still restores the hosts
                    self.scheduler.withdraw(key)
                    del self.running[key]
                    self.tell(f"{task.id}: no worker has it; `lab fleet resume` restores what it may have left changed")
        elif self._workers and not workers:
            self.tell(f"no worker is left: {len(self.running)} sweeps wait for one; start one, or stop the fleet")
        self._workers = workers

    def _take(self, waiting: Waiting, ended: Ended) -> None:
        """Write down how an attempt ended, and let its task wait for the next one if there may be one."""
        code, seconds = ended.exit_code, ended.seconds
        self._write(Event.ENDED, waiting, outcome=ended.outcome, exit_code=code, seconds=seconds, said=ended.reason)
        self._tell_ended(waiting, ended)
        if ended.outcome is Outcome.DONE:
            return
        is_kept_waiting = ended.outcome in (Outcome.BUSY, Outcome.HELD)
        cut_off = waiting.cut_off if is_kept_waiting else ended.outcome is Outcome.FAILED
        not_before = time.time() + self._pause_s(ended.outcome, cut_off)
        if ended.outcome is Outcome.HELD or (ended.outcome is Outcome.FAILED and ended.exit_code is None):
            self.paused[waiting.task.pair] = not_before  # no program ran: other tasks of the pair would fail alike
        failures = waiting.failures + (ended.outcome not in NOT_COUNTED)
        if failures >= self.plan.attempts or (ended.exit_code == BAD_INPUT and ended.outcome is Outcome.FAILED):
            self.tell(f"{waiting.task.id}: failed, and is not tried again: `lab fleet resume` does")
            return
        reason = ended.reason if is_kept_waiting else ""
        again = replace(waiting, failures=failures, not_before=not_before, cut_off=cut_off, reason=reason)
        self.waiting[waiting.task.id] = again

    def _pause_s(self, outcome: Outcome, cut_off: bool) -> float:
        """Pause before the next attempt. The session of a run that was cut off keeps a host for some seconds."""
        held_s = BUSY_S if cut_off else HELD_S
        longest = {Outcome.BUSY: BUSY_S, Outcome.HELD: held_s, Outcome.FAILED: math.inf}.get(outcome, 0.0)
        return min(self.plan.retry_after, longest)

    def _tell_ended(self, waiting: Waiting, ended: Ended) -> None:
        if ended.outcome is Outcome.DONE:
            flaws = "" if not ended.exit_code else ", with trials that failed or are void"
            self.tell(f"{waiting.task.id}: done in {ended.seconds:.0f} s{flaws}")
        elif ended.reason != waiting.reason:  # the same reason is told once, however often it is tried
            verdict = " waits:" if ended.outcome in NOT_COUNTED else f" failed (attempt {waiting.attempts}):"
            self.tell(f"{waiting.task.id}:{verdict} {ended.reason}")

    def _begin_what_can(self) -> None:
        for waiting in list(self._can_begin(time.time())):
            if not self._write(Event.BEGAN, waiting):
                return
            del self.waiting[waiting.task.id]
            key = f"{self.plan.name}/{waiting.task.id}/{waiting.attempts}-{self._suffix}"
            self.running[key] = waiting
            self.scheduler.submit(self._order(waiting), key, waiting.task.priority, waiting.task.site)
            if not waiting.reason:
                self.tell(f"{waiting.task.id}: begins (attempt {waiting.attempts})")

    def _can_begin(self, now: float) -> Iterator[Waiting]:
        """The tasks that can begin now, with the number of the attempt: first those cut off, then the most urgent."""
        free = self.scheduler.slots - len(self.running)
        taken = {machine for running in self.running.values() for machine in running.task.machines}
        reserved: dict[str, int] = {}  # machines that earlier tasks wait for, with the priority of these tasks
        openings: dict[tuple[Window, ...], Opening] = {}
        soonest = math.inf
        for waiting in sorted(self.waiting.values(), key=lambda task: (not task.cut_off, self.order[task.task.id])):
            if free <= 0:
                return
            task = waiting.task
            if task.windows not in openings:
                openings[task.windows] = next_opening(task.windows, now)
            not_before = max(waiting.not_before, self.paused.get(task.pair, 0.0))
            begin = max(not_before, -math.inf if waiting.cut_off else openings[task.windows].begin)
            is_reserved = any(reserved.get(machine, task.priority) > task.priority for machine in task.machines)
            if begin > now:
                soonest = min(soonest, begin)
            elif taken.isdisjoint(task.machines) and not is_reserved:
                free, soonest = free - 1, -math.inf
                taken |= task.machines
                yield replace(waiting, attempts=waiting.attempts + 1)
            else:
                for machine in task.machines:
                    reserved[machine] = max(task.priority, reserved.get(machine, task.priority))
        self._tell_wait(soonest)

    def _tell_wait(self, soonest: float) -> None:
        if not self.running and math.isfinite(soonest) and soonest > max(self._wait_told_until, time.time() + HELD_S):
            self._wait_told_until = soonest
            when = datetime.fromtimestamp(soonest).astimezone()
            self.tell(f"nothing can begin before {when:%a %H:%M}; {len(self.waiting)} tasks wait")

    def _order(self, waiting: Waiting) -> Order:
        task = waiting.task
        opening = next_opening(task.windows, time.time())
        deadline = opening.end if opening.begin <= time.time() else 0.0  # 0: restore the hosts only
        return Order(
            task=task.id, attempt=waiting.attempts, folder=str(self.queue.folder(task)), hosts_file=task.hosts_file,
            sweep_file=task.sweep_file, stop_file=str(self.queue.stop_path), deadline=deadline, programs=self.programs,
        )  # fmt: skip

    def _write(self, event: Event, waiting: Waiting, **more: object) -> bool:
        """Add a line to the journal; False, and nothing more begins, if the disk is full."""
        try:
            self.queue.journal.add(event, waiting.task.id, waiting.attempts, **more)
        except OSError as error:
            self._close(explain(error))
            return False
        return True
