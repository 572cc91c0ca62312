"""Where a fleet stands, and what it comes to, as lines of text and as JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from lab.base.untrusted import listing
from lab.fleet.forecast import Forecast
from lab.fleet.plan import Plan
from lab.fleet.queue import Queue, TaskState, TaskStatus

GAP = "  "
MOST_REASONS = 20
WORDS = {TaskState.RUNNING: "running", TaskState.FAILED: "failed", TaskState.WAITING: "waiting"}


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
        pairs = dict.fromkeys(task.pair for task in plan.tasks if task.site == site)
        yield f"site {site}: {listing(pairs)}"


def describe(plan: Plan, statuses: Sequence[TaskStatus], ends: Forecast, now: float) -> Iterator[str]:
    """The lines that `lab fleet status` prints."""
    cells: dict[tuple[str, str], Counter[TaskState]] = defaultdict(Counter)
    for one in statuses:
        cells[one.task.pair, one.task.sweep][one.state] += 1
    yield from _table(plan, {key: _cell(counts) for key, counts in cells.items()})
    counts = Counter(one.state for one in statuses)
    yield f"{len(statuses)} tasks: " + ", ".join(f"{counts[state]} {state.value}" for state in TaskState)
    if counts[TaskState.RUNNING] or counts[TaskState.WAITING]:
        yield _ending(ends, now)
    yield from _reasons(statuses)


def _cell(counts: Counter[TaskState]) -> str:
    """What became of the runs of one sweep on one pair."""
    total = counts.total()
    if counts[TaskState.DONE] == total:
        return "done" if total == 1 else f"{total} done"
    others = [
        f"{WORDS[state]}" if total == 1 else f"{counts[state]} {WORDS[state]}" for state in WORDS if counts[state]
    ]
    done = [f"{counts[TaskState.DONE]} done"] if counts[TaskState.DONE] else []
    return ", ".join([*done, *others])


def _table(plan: Plan, cells: dict[tuple[str, str], str]) -> Iterator[str]:
    """Pairs × sweeps."""
    rows = [["pair", *plan.sweeps]]
    rows += [[pair, *(cells.get((pair, sweep), "-") for sweep in plan.sweeps)] for pair in plan.pairs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield GAP.join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()


def _ending(ends: Forecast, now: float) -> str:
    when = datetime.fromtimestamp(ends.ends_at).astimezone()
    by = f"what {ends.measured} tasks took" if ends.measured else "estimates of `lab plan`"
    return f"ends about {when:%a %Y-%m-%d %H:%M}, in {duration(ends.ends_at - now)}, by {by}"


def _reasons(statuses: Sequence[TaskStatus]) -> Iterator[str]:
    """Why tasks failed, or wait though they have been tried."""
    unfinished = [one for one in statuses if one.state in (TaskState.FAILED, TaskState.WAITING) and one.reason]
    for one in sorted(unfinished, key=lambda one: one.state is not TaskState.FAILED)[:MOST_REASONS]:
        yield f"{one.task.id}: {WORDS[one.state]}: {one.reason}"
    if len(unfinished) > MOST_REASONS:
        yield f"and {len(unfinished) - MOST_REASONS:,} more"


def as_json(plan: Plan, queue: Queue, statuses: Sequence[TaskStatus], ends: Forecast) -> dict[str, Any]:
    """The same for programs; times in UTC."""
    counts = Counter(one.state for one in statuses)
    is_left = counts[TaskState.RUNNING] or counts[TaskState.WAITING]
    return {
        "fleet": plan.name,
        "queue": str(queue.path),
        "in_use": queue.is_in_use,
        "counts": {state.value: counts[state] for state in TaskState},
        "ends_at": datetime.fromtimestamp(ends.ends_at, UTC).isoformat(timespec="seconds") if is_left else None,
        "measured": ends.measured,
        "tasks": [_task_json(one) for one in statuses],
    }


def _task_json(one: TaskStatus) -> dict[str, Any]:
    return {
        "task": one.task.id, "pair": one.task.pair, "sweep": one.task.sweep, "repetition": one.task.repetition,
        "state": one.state.value, "attempts": one.attempts, "failures": one.failures,
        "run": str(one.run.path) if one.run else None, "ended": one.run.ended if one.run else None,
        "exit_code": one.last.exit_code if one.last else None, "seconds": one.last.seconds if one.last else None,
        "said": one.reason or None, "estimated_s": round(one.task.estimated_s, 1),
    }  # fmt: skip


def plan_json(plan: Plan) -> dict[str, Any]:
    """What `lab fleet plan --json` prints."""
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
    """Seconds as a person says them: the two largest units."""
    rest = max(round(seconds), 0)
    parts = []
    for name, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        parts.append((count, name))
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(f"{count} {name}" for count, name in parts[first : first + 2] if count) or "0 s"
