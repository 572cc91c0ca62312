"""The plan and the status of a fleet as text and as JSON, and a forecast of its end."""

import heapq
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lab.base.groups import grouped
from lab.base.untrusted import listing
from lab.fleet.journal import Outcome
from lab.fleet.plan import Plan, Task
from lab.fleet.queue import Queue, TaskState, TaskStatus
from lab.fleet.windows import ends_at

GAP = "  "
MOST_REASONS = 20
ORDER = (TaskState.DONE, TaskState.RUNNING, TaskState.FAILED, TaskState.WAITING)


@dataclass(frozen=True)
class Forecast:
    """When the last task ends, in seconds since 1970, and the number of ended tasks that the forecast rests on."""

    ends_at: float
    measured: int


class _Durations:
    """How long tasks take, in seconds: the median of the same sweep on the same pair, else of the same sweep.

    A sweep without an ended task takes its estimate, times the median ratio of duration to estimate of ended tasks.
    """

    def __init__(self, statuses: Sequence[TaskStatus]) -> None:
        durations_s = {  # a task of one attempt took as long as this attempt
            status.task: status.last.seconds
            for status in statuses
            if status.last and status.last.outcome is Outcome.DONE and status.attempts == 1
        }
        seconds_of_pair = grouped(((task.pair, task.sweep), seconds) for task, seconds in durations_s.items())
        seconds_of_sweep = grouped((task.sweep, seconds) for task, seconds in durations_s.items())
        self._of_pair = {key: statistics.median(values) for key, values in seconds_of_pair.items()}
        self._of_sweep = {key: statistics.median(values) for key, values in seconds_of_sweep.items()}
        ratios = [seconds / task.estimated_s for task, seconds in durations_s.items() if task.estimated_s > 0]
        self._ratio = statistics.median(ratios) if ratios else 1.0
        self.measured = len(durations_s)

    def of(self, task: Task) -> float:
        """The duration of a task."""
        median_s = self._of_pair.get((task.pair, task.sweep), self._of_sweep.get(task.sweep))
        return self._ratio * task.estimated_s if median_s is None else median_s


def forecast(plan: Plan, statuses: Sequence[TaskStatus], now: float) -> Forecast:
    """When the rest ends if each task begins, in the plan's order, as soon as its machines and a slot are free."""
    durations = _Durations(statuses)
    slots = [now] * plan.most_at_once
    free: dict[str, float] = {}
    last = now
    unfinished = [status for status in statuses if status.state in (TaskState.RUNNING, TaskState.WAITING)]
    # the sort is stable: then as in the plan
    for status in sorted(unfinished, key=lambda status: status.state is TaskState.WAITING):
        task, seconds = status.task, durations.of(status.task)
        if status.state is TaskState.RUNNING and status.began_at is not None:
            seconds = max(seconds - (now - status.began_at), 0.0)
        start = max([heapq.heappop(slots), status.not_before, *(free.get(machine, now) for machine in task.machines)])
        end = ends_at(task.windows, start, seconds)
        heapq.heappush(slots, end)
        free |= dict.fromkeys(task.machines, end)
        last = max(last, end)
    return Forecast(last, durations.measured)


def describe_plan(plan: Plan) -> Iterator[str]:
    """The lines that `lab fleet plan` prints."""
    runs = Counter((task.pair, task.sweep) for task in plan.tasks)
    table = {(pair, sweep): f"{count} runs" if count > 1 else "1 run" for (pair, sweep), count in runs.items()}
    yield from _table(plan, table)
    one_by_one = duration(sum(task.estimated_s for task in plan.tasks))
    yield f"{len(plan.tasks)} tasks on {len(plan.pairs)} pairs, {one_by_one} if they run one after another"
    for machine, names in plan.shared().items():
        yield f"shared: {machine}: {listing(names)}: never at once"
    for site in sorted({task.site for task in plan.tasks} - {""}):
        yield f"site {site}: {listing(dict.fromkeys(task.pair for task in plan.tasks if task.site == site))}"


def describe(plan: Plan, statuses: Sequence[TaskStatus], ends: Forecast, now: float) -> Iterator[str]:
    """The lines that `lab fleet status` prints."""
    cells: dict[tuple[str, str], Counter[TaskState]] = defaultdict(Counter)
    for status in statuses:
        cells[status.task.pair, status.task.sweep][status.state] += 1
    table = {}
    for key, counts in cells.items():
        states = [state for state in ORDER if counts[state]]
        words = (f"{counts[state]} {state.value}" if counts.total() > 1 else state.value for state in states)
        table[key] = ", ".join(words)
    yield from _table(plan, table)
    counts = Counter(status.state for status in statuses)
    yield f"{len(statuses)} tasks: " + ", ".join(f"{counts[state]} {state.value}" for state in TaskState)
    if counts[TaskState.RUNNING] or counts[TaskState.WAITING]:
        when = datetime.fromtimestamp(ends.ends_at).astimezone()
        source = f"what {ends.measured} tasks took" if ends.measured else "estimates of `lab plan`"
        yield f"ends about {when:%a %Y-%m-%d %H:%M}, in {duration(ends.ends_at - now)}, by {source}"
    yield from _reasons(statuses)


def _table(plan: Plan, cells: dict[tuple[str, str], str]) -> Iterator[str]:
    rows = [["pair", *plan.sweeps]]
    rows += [[pair, *(cells.get((pair, sweep), "-") for sweep in plan.sweeps)] for pair in plan.pairs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield GAP.join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()


def _reasons(statuses: Sequence[TaskStatus]) -> Iterator[str]:
    unfinished = [status for status in statuses if status.state in (TaskState.FAILED, TaskState.WAITING)]
    with_reason = sorted(filter(lambda status: status.reason, unfinished), key=lambda status: ORDER.index(status.state))
    for status in with_reason[:MOST_REASONS]:
        yield f"{status.task.id}: {status.state.value}: {status.reason}"
    if len(with_reason) > MOST_REASONS:
        yield f"and {len(with_reason) - MOST_REASONS:,} more"


def as_json(plan: Plan, queue: Queue, statuses: Sequence[TaskStatus], ends: Forecast) -> dict[str, object]:
    """The status for `lab fleet status --json`; times are in UTC."""
    counts = Counter(status.state for status in statuses)
    is_left = counts[TaskState.RUNNING] or counts[TaskState.WAITING]
    return {
        "fleet": plan.name, "queue": str(queue.path), "in_use": queue.is_in_use,
        "counts": {state.value: counts[state] for state in TaskState},
        "ends_at": datetime.fromtimestamp(ends.ends_at, UTC).isoformat(timespec="seconds") if is_left else None,
        "measured": ends.measured, "tasks": [_task_json(status) for status in statuses],
    }  # fmt: skip


def _task_json(status: TaskStatus) -> dict[str, object]:
    task, run, last = status.task, status.run, status.last
    return {
        "task": task.id, "pair": task.pair, "sweep": task.sweep, "repetition": task.repetition,
        "state": status.state.value, "attempts": status.attempts, "failures": status.failures,
        "run": str(run.path) if run else None, "ended": run.ended if run else None,
        "exit_code": last.exit_code if last else None, "seconds": last.seconds if last else None,
        "said": status.reason or None, "estimated_s": round(task.estimated_s, 1),
    }  # fmt: skip


def plan_json(plan: Plan) -> dict[str, object]:
    """The plan for `lab fleet plan --json`."""
    return {
        "fleet": plan.name,
        "tasks": [
            {
                "task": task.id, "hosts_file": task.hosts_file, "sweep_file": task.sweep_file, "site": task.site,
                "machines": sorted(task.machines), "priority": task.priority, "estimated_s": round(task.estimated_s, 1),
            }
            for task in plan.tasks
        ],
        "shared": plan.shared(),
    }  # fmt: skip


def duration(seconds: float) -> str:
    """Seconds in the two largest units."""
    rest = max(round(seconds), 0)
    parts = []
    for name, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        parts.append((count, name))
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(f"{count} {name}" for count, name in parts[first : first + 2] if count) or "0 s"
