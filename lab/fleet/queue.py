"""The queue of a fleet is a folder. The run folders in it tell which tasks are done.

- ``fleet.json``: the plan when the fleet was last begun or resumed;
- ``journal.jsonl``: a line for each attempt that begins or ends (:mod:`lab.fleet.journal`);
- ``runs/PAIR/SWEEP/REPETITION``: the run folder of a task, what `lab run` printed, and a lock;
- ``lock``: the lock of the controller; ``stop`` exists from `lab fleet stop` until the fleet is resumed.
"""

import fcntl
import json
import math
import os
import secrets
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from lab.base import durable, untrusted
from lab.base.errors import BadInput, LabFailure
from lab.base.os_errors import reason_of
from lab.base.untrusted import first_line, from_json, listing
from lab.fleet.journal import NOT_COUNTED, Event, Journal, Line, Outcome
from lab.fleet.plan import Plan, Task
from lab.results.run_folder import RunFolder
from lab.results.run_names import paths_of_runs

SCHEMA = 1
MOST_BYTES = 1 << 28  # limit of fleet.json: 100,000 tasks take 60 MB
PATIENCE_S = 1.0  # is_claimed() holds the lock for a moment, too
HELD_S = 60.0  # longest pause before a host that somebody else uses is tried again
BAD_INPUT = 2  # exit code: do not retry


class Claimed(LabFailure):
    """Somebody else has the lock."""


class TaskState(StrEnum):
    """The state of a task."""

    DONE = "done"
    RUNNING = "running"
    FAILED = "failed"
    WAITING = "waiting"


@dataclass(frozen=True)
class TaskRun:
    """The run of a task: ``is_done`` once it has ended by itself and restored its hosts; ``ended`` says how."""

    path: Path
    is_done: bool
    ended: str


@dataclass(frozen=True)
class TaskStatus:
    """The status of a task. ``failures`` counts attempts since the fleet was last resumed."""

    task: Task
    state: TaskState
    attempts: int
    failures: int
    last: Line | None
    began_at: float | None
    run: TaskRun | None
    not_before: float

    @property
    def was_cut_off(self) -> bool:
        """Whether it may have left its hosts changed: an attempt began, and no line says how it ended."""
        return self.state is not TaskState.DONE and self.began_at is not None

    @property
    def reason(self) -> str:
        """Why the task is not done, as its last attempt says."""
        return self.last.said if self.last else ""


@dataclass(frozen=True)
class _StoredPlan:
    """The content of fleet.json; ``digests`` has the digest of each task's sweep."""

    id: str
    name: str
    began_at: str
    digests: dict[str, str]


class Queue:
    """The folder of a fleet."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.journal = Journal(self.path / "journal.jsonl")
        self.plan_path, self.lock_path, self.stop_path = (self.path / name for name in ("fleet.json", "lock", "stop"))

    def folder(self, task: Task) -> Path:
        """The folder of a task."""
        return self.path / "runs" / task.pair / task.sweep / str(task.repetition)

    @property
    def exists(self) -> bool:
        """Whether a fleet has begun here."""
        return os.path.lexists(self.plan_path)

    @property
    def is_in_use(self) -> bool:
        """Whether a controller works on the fleet now."""
        return is_claimed(self.lock_path)

    def make(self) -> None:
        """Create the folder if it is missing. Raises OSError."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def write(self, plan: Plan) -> str:
        """Write the plan durably; returns the fleet's id, which stays. Raises BadInput for a damaged fleet.json."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        stored = self._read() if self.exists else _StoredPlan(secrets.token_hex(16), plan.name, now, {})
        content = {
            "schema": SCHEMA, "id": stored.id, "name": plan.name, "began_at": stored.began_at,
            "tasks": [
                {
                    "id": task.id, "hosts_file": task.hosts_file, "machines": sorted(task.machines), "site": task.site,
                    "sweep_file": task.sweep_file, "sweep_digest": task.sweep_digest, "priority": task.priority,
                    "estimated_s": round(task.estimated_s, 1),
                }
                for task in plan.tasks
            ],
        }  # fmt: skip
        durable.replace(self.plan_path, json.dumps(content, indent=1).encode())
        return stored.id

    def check(self, plan: Plan) -> list[str]:
        """Lines on changes of the plan since the fleet began. Raises BadInput if a begun task's sweep has changed."""
        stored = self._read()
        if stored.name != plan.name:
            problem = f"{self.path}: belongs to the fleet {stored.name!r}, not to {plan.name!r}"
            raise BadInput(problem, "give --queue another DIR")
        digests = stored.digests
        for task in plan.tasks:
            if digests.get(task.id, task.sweep_digest) != task.sweep_digest and find_run(self.folder(task)):
                problem = f"{task.sweep_file}: has changed since {task.id} began"
                raise BadInput(problem, "bring it back, or give the new sweep another name")
        now = {task.id for task in plan.tasks}
        added, removed = [name for name in now if name not in digests], [name for name in digests if name not in now]
        lines = [f"{len(added)} tasks are new: {listing(sorted(added), 3)}"] if added else []
        lines += [f"{len(removed)} tasks are no longer in the file: {listing(sorted(removed), 3)}"] if removed else []
        return lines

    def _read(self) -> _StoredPlan:
        try:
            content = from_json(untrusted.read_file(self.plan_path, MOST_BYTES).decode())
            if not isinstance(content, dict) or content.get("schema") != SCHEMA:
                raise ValueError(f"its schema is not {SCHEMA}")
            words = [untrusted.word(content.get(key), r"[ -~]{1,200}") for key in ("id", "name", "began_at")]
            plan_id, name, began_at = words
            tasks = content.get("tasks")
            if not isinstance(tasks, list) or not all(map(_is_task, tasks)):
                raise ValueError("its tasks are not those of a fleet")
        except (OSError, ValueError) as error:
            problem = f"{self.plan_path}: not a plan of this lab: {reason_of(error)}"
            raise BadInput(problem, "give --queue another DIR, which begins it anew") from error
        return _StoredPlan(plan_id, name, began_at, {task["id"]: task["sweep_digest"] for task in tasks})

    def statuses(self, plan: Plan) -> list[TaskStatus]:
        """The status of each task by its run folder, its lock and the journal, in the order of the plan."""
        lines: dict[str, list[Line]] = defaultdict(list)
        recent: dict[str, list[Line]] = defaultdict(list)  # lines since the fleet was last resumed
        for line in self.journal.lines():
            if line.event is Event.RESUMED:
                recent.clear()
            lines[line.task].append(line)
            recent[line.task].append(line)
        return [self._status(task, lines[task.id], recent[task.id], plan) for task in plan.tasks]

    def _status(self, task: Task, lines: Sequence[Line], recent: Sequence[Line], plan: Plan) -> TaskStatus:
        run = find_run(self.folder(task))
        last = next((line for line in reversed(lines) if line.event is Event.ENDED), None)
        failures = [line for line in recent if line.outcome is Outcome.FAILED]
        open_since = lines[-1].time if lines and lines[-1].event is Event.BEGAN else None
        if run and run.is_done:
            state = TaskState.DONE
        elif is_claimed(self.folder(task) / "lock"):
            state = TaskState.RUNNING
        elif len(failures) >= plan.attempts or (failures and failures[-1].exit_code == BAD_INPUT):
            state = TaskState.FAILED
        else:
            state = TaskState.WAITING
        attempts = sum(line.event is Event.BEGAN for line in lines)
        not_before = 0.0
        if recent and recent[-1].outcome in (Outcome.FAILED, Outcome.HELD, Outcome.BUSY):
            longest = HELD_S if recent[-1].outcome in NOT_COUNTED else math.inf
            not_before = recent[-1].time + min(plan.retry_after, longest)
        return TaskStatus(task, state, attempts, len(failures), last, open_since, run, not_before)


def find_run(folder: Path) -> TaskRun | None:
    """The run in a task's folder: one that is done, else the newest. A run that cannot be read is not done."""
    newest = None
    for path in reversed(paths_of_runs(folder)):
        try:
            run = RunFolder(path).run
        except BadInput as error:
            newest = TaskRun(path, False, first_line(error.cause(), 300))
            continue
        newest = TaskRun(path, bool(run.get("finished_at")), first_line(str(run.get("ended") or ""), 300))
        if newest.is_done:
            return newest
    return newest


def _is_task(task: object) -> bool:
    return isinstance(task, Mapping) and all(isinstance(task.get(key), str) for key in ("id", "sweep_digest"))


@contextmanager
def claimed(path: Path) -> Iterator[int]:
    """Hold the lock of a file, which is created; yields its descriptor. Raises Claimed, and OSError.

    A child that inherits the descriptor shares the lock, which is free once the last process with it has ended. The
    file is open for writing because NFS has no other lock.
    """
    descriptor = durable.open_own(path, os.O_RDWR)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not _try_to_lock(descriptor):
            if time.monotonic() > deadline:
                raise Claimed(f"{path}: another process has it")
            time.sleep(0.05)
        yield descriptor
    finally:
        os.close(descriptor)


def is_claimed(path: Path) -> bool:
    """Whether somebody holds the lock of a file."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _try_to_lock(descriptor)
    finally:
        os.close(descriptor)


def _try_to_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
