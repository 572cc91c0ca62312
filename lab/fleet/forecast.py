"""When a fleet will end: by what tasks like the ones that are left took, and else by what `lab plan` estimates."""

from __future__ import annotations

import heapq
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from lab.fleet.journal import Outcome
from lab.fleet.plan import Plan, Task
from lab.fleet.queue import TaskState, TaskStatus
from lab.fleet.windows import ends_at


@dataclass(frozen=True)
class Forecast:
    """When the last task that is left ends, in seconds since 1970; how many tasks that have ended it rests on."""

    ends_at: float
    measured: int


class Durations:
    """How long tasks take, seconds: the median of the same sweep on the same pair, of the same sweep, or the estimate.

    An estimate is corrected by how much longer than theirs the tasks took that have ended.
    """

    def __init__(self, statuses: Sequence[TaskStatus]) -> None:
        durations_s = {one.task: one.last.seconds for one in statuses if one.last and _took_one_attempt(one)}
        of_pair, of_sweep = defaultdict(list), defaultdict(list)
        for task, seconds in durations_s.items():
            of_pair[task.pair, task.sweep].append(seconds)
            of_sweep[task.sweep].append(seconds)
        self._of_pair = {key: statistics.median(values) for key, values in of_pair.items()}
        self._of_sweep = {key: statistics.median(values) for key, values in of_sweep.items()}
        ratios = [seconds / task.estimated_s for task, seconds in durations_s.items() if task.estimated_s > 0]
        self._ratio = statistics.median(ratios) if ratios else 1.0
        self.measured = len(durations_s)

    def of(self, task: Task) -> float:
        """That of a task."""
        median_s = self._of_pair.get((task.pair, task.sweep), self._of_sweep.get(task.sweep))
        return self._ratio * task.estimated_s if median_s is None else median_s


def _took_one_attempt(one: TaskStatus) -> bool:
    """Whether it was done by one attempt, which then took as long as the whole."""
    return bool(one.last and one.last.outcome is Outcome.DONE and one.attempts == 1)


def forecast(plan: Plan, statuses: Sequence[TaskStatus], now: float) -> Forecast:
    """When what is left ends, if each task begins as soon as its machines and a slot are free, in the plan's order."""
    durations = Durations(statuses)
    slots = [now] * plan.most_at_once
    free: dict[str, float] = {}
    last = now
    left = [one for one in statuses if one.state in (TaskState.RUNNING, TaskState.WAITING)]
    for one in sorted(left, key=lambda one: one.state is TaskState.WAITING):  # stable: then as in the plan
        task, seconds = one.task, durations.of(one.task)
        if one.state is TaskState.RUNNING and one.began_at is not None:
            seconds = max(seconds - (now - one.began_at), 0.0)
        start = max([heapq.heappop(slots), one.not_before, *(free.get(machine, now) for machine in task.machines)])
        end = ends_at(task.windows, start, seconds)
        heapq.heappush(slots, end)
        free |= dict.fromkeys(task.machines, end)
        last = max(last, end)
    return Forecast(last, durations.measured)
