"""The queue of a fleet: a folder, and nothing else. What is done is read from the run folders in it.

- ``fleet.json``: the plan, as it was when the fleet was last begun or gone on with;
- ``journal.jsonl``: a line for each attempt that begins or ends (:mod:`lab.fleet.journal`);
- ``runs/PAIR/SWEEP/REPETITION``: of each task its run folder, what `lab run` printed, and a lock;
- ``lock``: of the controller; ``stop``: there from `lab fleet stop` on until the fleet goes on.
"""

from __future__ import annotations

import json
import os
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from lab.base import durable, untrusted
from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import first_line, from_json, listing
from lab.fleet.claim import is_claimed
from lab.fleet.journal import NOT_COUNTED, Event, Journal, Line, Outcome
from lab.fleet.plan import Plan, Task
from lab.results.run_folder import RunFolder
from lab.results.run_names import paths_of_runs

SCHEMA = 1
MOST_BYTES = 1 << 28  # of fleet.json: 100,000 tasks have 60 MB
HELD_S = 60.0  # until what somebody else uses is tried again, or sooner
BAD_INPUT = 2  # exit code of a run that another attempt would not help


class TaskState(StrEnum):
    """What a task is like."""

    DONE = "done"
    RUNNING = "running"
    FAILED = "failed"
    WAITING = "waiting"


@dataclass(frozen=True)
class TaskRun:
    """The run of a task: ``is_done`` once it has ended by itself and put everything back, ``ended`` says how."""

    path: Path
    is_done: bool
    ended: str


@dataclass(frozen=True)
class TaskStatus:
    """Where a task stands. ``failures`` are of attempts since the fleet was last gone on with."""

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
        """Whether something of it may have been left changed on its hosts: it began, and nobody wrote how it ended."""
        return self.state is not TaskState.DONE and self.began_at is not None

    @property
    def reason(self) -> str:
        """Why it is not done, as far as its last attempt says."""
        return self.last.said if self.last else ""


@dataclass(frozen=True)
class _StoredPlan:
    """What fleet.json says; ``digests`` are of the sweep of each task."""

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
        """That of a task."""
        return self.path / "runs" / task.pair / task.sweep / str(task.repetition)

    @property
    def exists(self) -> bool:
        """Whether a fleet has begun here."""
        return os.path.lexists(self.plan_path)

    @property
    def is_in_use(self) -> bool:
        """Whether a controller works on it now."""
        return is_claimed(self.lock_path)

    def make(self) -> None:
        """Make the folder, where it is missing. Raises OSError."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def write(self, plan: Plan) -> str:
        """Put the plan into it, durably; the fleet's id, which stays. Raises BadInput where that was another fleet."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        stored = self._read() if self.exists else _StoredPlan(secrets.token_hex(16), plan.name, now, {})
        content = {
            "schema": SCHEMA, "id": stored.id, "name": plan.name, "began_at": stored.began_at,
            "tasks": [_describe(task) for task in plan.tasks],
        }  # fmt: skip
        durable.replace(self.plan_path, json.dumps(content, indent=1).encode())
        return stored.id

    def check(self, plan: Plan) -> list[str]:
        """What has changed since the fleet began, for people. Raises BadInput for a sweep that has, and is under way.

        ``plan`` is that of the fleet file as it is now.
        """
        stored = self._read()
        if stored.name != plan.name:
            raise BadInput(
                f"{self.path}: is of the fleet {stored.name!r}, and not of {plan.name!r}", "give --queue another DIR"
            )
        digests = stored.digests
        for task in plan.tasks:
            if digests.get(task.id, task.sweep_digest) != task.sweep_digest and self.find_run(task):
                raise BadInput(
                    f"{task.sweep_file}: has changed since {task.id} began",
                    "bring it back, or give the new sweep another name",
                )
        now = {task.id for task in plan.tasks}
        added, removed = [name for name in now if name not in digests], [name for name in digests if name not in now]
        lines = [f"{len(added)} tasks are new: {listing(sorted(added), 3)}"] if added else []
        lines += [f"{len(removed)} tasks are in the file no more: {listing(sorted(removed), 3)}"] if removed else []
        return lines

    def _read(self) -> _StoredPlan:
        """What fleet.json says. Raises BadInput."""
        try:
            content = from_json(untrusted.read_file(self.plan_path, MOST_BYTES).decode())
            if not isinstance(content, dict) or content.get("schema") != SCHEMA:
                raise ValueError(f"its schema is not {SCHEMA}")
            identity, name, began_at = (
                untrusted.word(content.get(key), r"[ -~]{1,200}") for key in ("id", "name", "began_at")
            )
            if not isinstance(content.get("tasks"), list) or not all(map(_is_task, content["tasks"])):
                raise ValueError("its tasks are not those of a fleet")
        except (OSError, ValueError) as error:
            raise BadInput(
                f"{self.plan_path}: not a plan of this lab: {reason_of(error)}",
                "give --queue another DIR, which begins it anew",
            ) from error
        return _StoredPlan(identity, name, began_at, {task["id"]: task["sweep_digest"] for task in content["tasks"]})

    def find_run(self, task: Task) -> TaskRun | None:
        """The run of a task; None where there is none."""
        return find_run(self.folder(task))

    def statuses(self, plan: Plan) -> list[TaskStatus]:
        """Where each task stands, in the order of the plan: by its run folder, its lock, and the journal."""
        lines: dict[str, list[Line]] = defaultdict(list)
        recent: dict[str, list[Line]] = defaultdict(list)  # since the fleet was last gone on with, whatever clocks say
        for line in self.journal.lines():
            if line.event is Event.RESUMED:
                recent.clear()
            lines[line.task].append(line)
            recent[line.task].append(line)
        return [self._status(task, lines[task.id], recent[task.id], plan) for task in plan.tasks]

    def _status(self, task: Task, lines: Sequence[Line], recent: Sequence[Line], plan: Plan) -> TaskStatus:
        run = self.find_run(task)
        ended = [line for line in lines if line.event is Event.ENDED]
        last = ended[-1] if ended else None
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
        return TaskStatus(task, state, attempts, len(failures), last, open_since, run, next_try(recent, plan))


def next_try(recent: Sequence[Line], plan: Plan) -> float:
    """When a task may be tried again, in seconds since 1970, by its lines since the fleet was last gone on with."""
    last = recent[-1] if recent else None
    if last is None or last.outcome not in (Outcome.FAILED, Outcome.HELD, Outcome.BUSY):
        return 0.0
    wait_s = min(plan.retry_after, HELD_S) if last.outcome in NOT_COUNTED else plan.retry_after
    return last.time + wait_s


def find_run(folder: Path) -> TaskRun | None:
    """The run in the folder of a task: the one that is done, or the newest. One that cannot be read is not done."""
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


def _describe(task: Task) -> dict[str, object]:
    """A task as fleet.json has it."""
    return {
        "id": task.id, "hosts_file": task.hosts_file, "machines": sorted(task.machines), "site": task.site,
        "sweep_file": task.sweep_file, "sweep_digest": task.sweep_digest, "priority": task.priority,
        "estimated_s": round(task.estimated_s, 1),
    }  # fmt: skip


def _is_task(task: object) -> bool:
    return isinstance(task, Mapping) and all(isinstance(task.get(key), str) for key in ("id", "sweep_digest"))
