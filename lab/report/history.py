"""`lab history`: the speed of a share over its saved runs, as sentences and tables; the answer comes first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from lab import stats
from lab.base.groups import grouped
from lab.base.untrusted import one_line
from lab.report.prose import warnings_of_machines
from lab.report.tables import TextTable
from lab.results.saved_runs import MOST_RUNS, SavedRun, SavedRuns
from lab.stats.change_points import LEAST_POINTS
from lab.stats.run_differences import ChangedFact, changed_facts
from lab.stats.speed_histories import LEAST_REFERENCE, TREND_DAYS, Change, SpeedHistory, Step, speed_histories

MOST_ROWS = 20  # in a table; the runs before them share one row
MOST_CAUSES = 6  # causes that are named one by one
LONGEST_VALUE = 60  # characters of a value before or after a step
CHANCE = (
    "One look at a history without a change tells of one in at most 5 % of cases, all rows together; in more where "
    "runs resemble the one before (docs/explanation/methods.md)."
)


@dataclass(frozen=True)
class History:
    """The runs of one name; ``known`` are their rows if these were computed before."""

    saved: SavedRuns
    known: Sequence[SpeedHistory] | None = None

    @cached_property
    def rows(self) -> list[SpeedHistory]:
        """One row a protocol, tool and direction."""
        return speed_histories(self.saved.runs) if self.known is None else list(self.known)

    def runs(self, row: SpeedHistory, points: range) -> list[SavedRun]:
        """The runs of some points."""
        return [self.saved.runs[row.points[point].run] for point in points]

    def day(self, row: SpeedHistory, point: int) -> str:
        """The day of a point."""
        return day(self.runs(row, range(point, point + 1))[0].begun, self.saved.runs[-1].begun)

    def causes(self, row: SpeedHistory, step: Step) -> list[ChangedFact]:
        """The facts that changed with a step."""
        number = row.begins.index(step.at)
        before, after = (self.runs(row, row.level(level)) for level in (number - 1, number))
        return changed_facts(before, after, row.at)


def answer(history: History) -> list[str]:
    """The changes of the speed of each row, then the facts that changed with its last step."""
    return [*sentences(history), *_causes(history)]


def sentences(history: History) -> list[str]:
    """The changes of the speed of each row, a sentence each."""
    lines = [_sentence(history, row) for row in history.rows]
    return lines or [f"No trial of {len(history.saved.runs)} runs counts: `lab show RUN --table lost` says why."]


def notes(history: History) -> list[str]:
    """The scatter of the numbers, how often chance alone makes a step, and warnings of machines."""
    between_runs = _span([row.between_pct for row in history.rows])
    inside = _span([row.within_pct for row in history.rows])
    statements = []
    if older := history.saved.older:
        statements.append(f"Only the newest {MOST_RUNS} runs are looked at; {older:,} are older.")
    if between_runs and inside:
        statements.append(
            f"Runs scatter by {between_runs} around their level (standard deviation), trials inside a run by {inside}: "
            "runs are compared by the first."
        )
    machines = dict.fromkeys(warning for run in history.saved.runs for warning in warnings_of_machines(run.run))
    return [*statements, CHANCE, *machines]


def tables(history: History) -> list[TextTable]:
    """One table a protocol and tool: its runs, the newest last, with the median of both directions."""
    return [_table(history, tool_rows) for tool_rows in by_tool(history)]


def by_tool(history: History) -> list[list[SpeedHistory]]:
    """The rows of each protocol and tool."""
    return list(grouped(((row.at["protocol"], row.at["tool"]), row) for row in history.rows).values())


def tool_label(tool_rows: Sequence[SpeedHistory]) -> str:
    """The protocol and tool of rows."""
    return one_line(stats.row_label({name: tool_rows[0].at[name] for name in ("protocol", "tool")}), 80)


def judge_slower(history: History, percent: float) -> tuple[bool, list[str]]:
    """Whether the newest run is slower by more than so much in any row, with confidence; and a sentence a row."""
    rows = [row for row in history.rows if row.points[-1].run == len(history.saved.runs) - 1]
    sentences = [_judge_row(history, row, percent) for row in rows] or ["no trial of the newest run counts"]
    is_met = any(row.newest[2] < -percent for row in rows)  # even the end of the interval nearest to 0
    return is_met, [f"slower-than {percent:g}%: {sentence}" for sentence in sentences]


def _judge_row(history: History, row: SpeedHistory, percent: float) -> str:
    label, count = _label(history, row), len(row.reference)
    if np.isnan(row.newest[0]):
        return f"not judged: {label} has {count} earlier runs at one level, and {LEAST_REFERENCE} are needed"
    verdict = "met" if row.newest[2] < -percent else "not met"
    if row.is_drift:
        return f"{verdict}: {label} has changed by {_signed(row.over_all)} since its first run, by its trend"
    usual = _speed(row.median_of(row.reference))
    return f"{verdict}: the newest {label} differs by {_signed(row.newest)} from the {count} runs at {usual}"


def _label(history: History, row: SpeedHistory) -> str:
    return row.at["direction"] if len(by_tool(history)) == 1 else one_line(stats.row_label(row.at), 80)


def _sentence(history: History, row: SpeedHistory) -> str:
    label, count, since = _label(history, row), len(row.points), history.day(row, 0)
    speed = _speed(row.median_of(row.level(-1)))
    if count == 1:
        return f"{label}: {speed} in its only run, on {since}."
    if row.is_drift:
        first, last = map(_speed, ends_of_drift(row))
        text = f"{label} drifts by {_signed(row.trend)} in {TREND_DAYS} days: from {first} to {last} since {since}"
        return f"{text} ({count} runs)."
    if row.steps:
        text = _stepped(history, row)
    elif count < LEAST_POINTS:
        text = f"{label}: {speed} in {count} runs since {since}; from {LEAST_POINTS} on a step can be told from chance"
    else:
        text = f"{label}: steady at {speed} since {since} ({count} runs)"
    return f"{text}{_newest(row)}."


def _stepped(history: History, row: SpeedHistory) -> str:
    *earlier, step = row.steps
    before, after = (row.level(len(row.begins) - number) for number in (2, 1))
    runs = history.runs(row, range(step.at - 1, step.at + 1))
    first, last = (_speed(row.median_of(level)) for level in (before, after))
    counts = [f"{len(level)} run{'s' if len(level) != 1 else ''}" for level in (before, after)]
    when = between(runs[0].begun, runs[1].begun, history.saved.runs[-1].begun)
    names = " and ".join(one_line(run.path.name, 80) for run in runs)
    text = (
        f"{_label(history, row)} {_moved(step.change)} {when} (runs {names}), from {first} to {last}; steady since "
        f"then ({counts[1]}), and before that since {history.day(row, before.start)} ({counts[0]})"
    )
    others = [f"{_moved(step.change)} on {history.day(row, step.at)}" for step in reversed(earlier)]
    return f"{text}; earlier it {', '.join(others)}" if others else text


def _newest(row: SpeedHistory) -> str:
    change, low, high = row.newest
    if row.reference.stop != len(row.points) - 1 or not (low > 0 or high < 0):
        return ""
    word = "slower" if change < 0 else "faster"
    ends = ", ".join(map(_number, sorted((abs(low), abs(high)))))
    return f"; the newest run is {_number(abs(change))} % [{ends}] {word} than the {len(row.reference)} before"


def _causes(history: History) -> list[str]:
    lines = []
    for row in history.rows:
        for step in row.steps[-1:]:
            paths = [str(run.path) for run in history.runs(row, range(step.at - 1, step.at + 1))]
            lines.append(f"{_changed(history.causes(row, step))} More: `lab compare {' '.join(paths)}`.")
    return [one_line(line) for line in dict.fromkeys(lines)]


def _changed(facts: Sequence[ChangedFact]) -> str:
    likely = [fact for fact in facts if fact.only_then]
    rest = len(facts) - len(likely)
    others = f" {rest} more differ, and at other times too (--json)." if rest else ""
    if not likely:
        return f"Nothing that the runs note of the lab, hosts and mounts changed then and only then.{others}"
    named = [
        f"{fact.name} {one_line(fact.before, LONGEST_VALUE)} → {one_line(fact.after, LONGEST_VALUE)}"
        for fact in likely[:MOST_CAUSES]
    ]
    more = [f"and {len(likely) - MOST_CAUSES} more (--json)"] if len(likely) > MOST_CAUSES else []
    return f"Changed then and only then, so perhaps the cause: {'; '.join([*named, *more])}.{others}"


def _table(history: History, tool_rows: Sequence[SpeedHistory]) -> TextTable:
    runs = sorted({point.run for row in tool_rows for point in row.points})
    earlier, shown = runs[:-MOST_ROWS], runs[-MOST_ROWS:]
    cells = [_cells(row) for row in tool_rows]
    rows = [
        [f"{history.saved.runs[run].begun:%Y-%m-%d %H:%M}", *(by_run.get(run, "–") for by_run in cells)]
        for run in shown
    ]
    if earlier:
        rows.insert(0, [f"{len(earlier)} earlier", *(_summarise(row, shown[0]) for row in tool_rows)])
    caption = f"{tool_label(tool_rows)}: MB/s, median of a run [95 % interval of its trials]. ↓ ↑ a new level begins."
    return TextTable(["begun (UTC)", *(row.at["direction"] for row in tool_rows)], rows, caption)


def _cells(row: SpeedHistory) -> dict[int, str]:
    signs = {step.at: " ↓" if step.change[0] < 0 else " ↑" for step in row.steps}
    cells = {}
    for number, point in enumerate(row.points):
        interval = "" if np.isnan(point.low) else f" [{_figure(point.low)}, {_figure(point.high)}]"
        cells[point.run] = f"{_figure(point.median)}{interval}{signs.get(number, '')}"
    return cells


def _summarise(row: SpeedHistory, end: int) -> str:
    """The median of the runs before one, and from the slowest to the fastest of them."""
    medians = [point.median for point in row.points if point.run < end]
    if not medians:
        return "–"
    return f"{_figure(float(np.median(medians)))} ({_figure(min(medians))} … {_figure(max(medians))})"


def ends_of_drift(row: SpeedHistory) -> tuple[float, float]:
    """The speeds at the begin and the end of the line of a drift, whose middle is the median."""
    middle, half = row.median_of(range(len(row.points))), float(np.sqrt(1 + row.over_all[0] / 100))
    return middle / half, middle * half


def _moved(change: Change) -> str:
    """A change as a sentence says it: ``fell by 18 % [12, 23]``."""
    sign = -1 if change[0] < 0 else 1
    estimate, *ends = (sign * value for value in change)
    low, high = sorted(ends)
    return f"{'fell' if sign < 0 else 'rose'} by {_number(estimate)} % [{_number(low)}, {_number(high)}]"


def _signed(change: Change) -> str:
    estimate, low, high = (f"{value:+.{0 if abs(value) >= 10 else 1}f}" for value in change)
    return f"{estimate} % [{low}, {high}]"


def _number(percent: float) -> str:
    return f"{percent:.{0 if abs(percent) >= 10 else 1}f}"


def _figure(speed: float) -> str:
    """A speed with three digits or more."""
    return f"{speed:.{0 if speed >= 100 else 1 if speed >= 10 else 2}f}"


def _speed(speed: float) -> str:
    return f"{_figure(speed)} MB/s"


def _span(percents: Sequence[float]) -> str:
    finite = [percent for percent in percents if np.isfinite(percent)]
    if not finite:
        return ""
    low, high = _number(min(finite)), _number(max(finite))
    return f"{low} %" if low == high else f"{low} to {high} %"


def day(at: datetime, newest: datetime) -> str:
    """The day, such as ``3 March``; with its year where that is not the year of ``newest``."""
    return f"{at.day} {at:%B}" if at.year == newest.year else f"{at.day} {at:%B} {at.year}"


def between(before: datetime, after: datetime, newest: datetime) -> str:
    """The time between two moments, such as ``between 2 and 3 May``; with the time of day where it is one day."""
    if before.date() == after.date():
        return f"on {day(after, newest)}, between {before:%H:%M} and {after:%H:%M} UTC"
    is_one_month = (before.year, before.month) == (after.year, after.month)
    return f"between {before.day if is_one_month else day(before, newest)} and {day(after, newest)}"
