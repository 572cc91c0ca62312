"""`lab history`: what became of the speed of a share, as sentences, tables and JSON values; the answer comes first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from lab import stats
from lab.base.untrusted import one_line
from lab.report.prose import warnings_of_machines
from lab.report.tables import TextTable
from lab.results.saved_runs import MOST_RUNS, SavedRun, SavedRuns
from lab.stats.change_points import LEAST_POINTS
from lab.stats.courses import LEAST_REFERENCE, TREND_DAYS, Change, Course, Step, courses
from lab.stats.run_differences import ChangedFact, changed_facts

MOST_ROWS = 20  # of a table: the runs before them share one row
MOST_CAUSES = 6  # that are named one by one
LONGEST_VALUE = 60  # characters of a value before or after a step
CHANCE = (
    "One look at a history without a change tells of one in at most 5 % of cases, all rows together; in more where "
    "runs resemble the one before (docs/explanation/methods.md)."
)


@dataclass(frozen=True)
class History:
    """The runs of one name, and what is computed of them: ``known``, where it is computed already."""

    saved: SavedRuns
    known: Sequence[Course] | None = None

    @cached_property
    def courses(self) -> list[Course]:
        """One course a protocol, tool and direction."""
        return courses(self.saved.runs) if self.known is None else list(self.known)

    def run(self, course: Course, point: int) -> SavedRun:
        """The run of a point, counted from the first, or with a negative number from the newest."""
        return self.saved.runs[course.points[point].run]

    def runs(self, course: Course, points: range) -> list[SavedRun]:
        """The runs of some points."""
        return [self.run(course, point) for point in points]

    def day(self, course: Course, point: int) -> str:
        """The day of a point."""
        return day(self.run(course, point).begun, self.saved.runs[-1].begun)

    def causes(self, course: Course, step: Step) -> list[ChangedFact]:
        """What else is different since a step."""
        number = course.begins.index(step.at)
        levels = [self.runs(course, course.level(level)) for level in (number - 1, number)]
        return changed_facts(levels[0], levels[1], course.at)


def answer(history: History) -> list[str]:
    """What happened to the speed of each row, then what else changed where one stepped."""
    return [*sentences(history), *_causes(history)]


def sentences(history: History) -> list[str]:
    """What happened to the speed of each row."""
    lines = [_sentence(history, course) for course in history.courses]
    return lines or [f"No trial of {len(history.saved.runs)} runs counts: `lab show RUN --table lost` says why."]


def notes(history: History) -> list[str]:
    """What has to be known of the numbers: how far they scatter, how often chance alone steps, and of which machines
    they are none.
    """
    between_runs, inside = (
        _span([getattr(course, name) for course in history.courses]) for name in ("between_pct", "within_pct")
    )
    scatter = [
        f"Runs scatter by {between_runs} around their level (standard deviation), trials inside a run by {inside}: "
        "runs are compared by the first."
    ]
    noise = scatter if between_runs and inside else []
    older = [f"Only the newest {MOST_RUNS} runs are looked at; {history.saved.older:,} are older."]
    left_out = older if history.saved.older else []
    machines = [warning for run in history.saved.runs for warning in warnings_of_machines(run.run)]
    return [*left_out, *noise, CHANCE, *dict.fromkeys(machines)]


def tables(history: History) -> list[TextTable]:
    """One table a protocol and tool: its runs, the newest last, with the median of both directions."""
    pairs: dict[tuple[str, str], list[Course]] = {}
    for course in history.courses:
        pairs.setdefault((course.at["protocol"], course.at["tool"]), []).append(course)
    return [_table(history, of_tool) for of_tool in pairs.values()]


def judge_slower(history: History, percent: float) -> tuple[bool, list[str]]:
    """Whether the newest run is slower by more than so much in any row, with confidence; and a sentence a row."""
    newest = len(history.saved.runs) - 1
    rows = [course for course in history.courses if course.points[-1].run == newest]
    sentences = [_judge_row(history, course, percent) for course in rows]
    nothing = ["no trial of the newest run counts"] if not rows else []
    is_met = any(_is_slower(course, percent) for course in rows)
    return is_met, [f"slower-than {percent:g}%: {sentence}" for sentence in (*sentences, *nothing)]


def _is_slower(course: Course, percent: float) -> bool:
    """By the end of the interval that speaks least for it."""
    return course.newest[2] < -percent


def _judge_row(history: History, course: Course, percent: float) -> str:
    label = _label(history, course)
    if np.isnan(course.newest[0]):
        count = len(course.reference)
        return f"not judged: {label} has {count} earlier runs at one level, and {LEAST_REFERENCE} are needed"
    verdict = "met" if _is_slower(course, percent) else "not met"
    if course.is_drift:
        return f"{verdict}: {label} has changed by {_signed(course.over_all)} since its first run, by its trend"
    usual = _speed(course.median_of(course.reference))
    count = len(course.reference)
    return f"{verdict}: the newest {label} differs by {_signed(course.newest)} from the {count} runs at {usual}"


def _label(history: History, course: Course) -> str:
    """The direction, and what else tells a row from the others."""
    pairs = {(one.at["protocol"], one.at["tool"]) for one in history.courses}
    return course.at["direction"] if len(pairs) == 1 else one_line(stats.row_label(course.at), 80)


def _sentence(history: History, course: Course) -> str:
    label, count, since = _label(history, course), len(course.points), history.day(course, 0)
    speed = _speed(course.median_of(course.level(-1)))
    if count == 1:
        return f"{label}: {speed} in its only run, on {since}."
    if course.is_drift:
        first, last = _ends_of_line(course)
        text = f"{label} drifts by {_signed(course.trend)} in {TREND_DAYS} days: from {first} to {last} since {since}"
        return f"{text} ({count} runs)."
    if course.steps:
        text = _stepped(history, course)
    elif count < LEAST_POINTS:
        text = f"{label}: {speed} in {count} runs since {since}; from {LEAST_POINTS} on a step can be told from chance"
    else:
        text = f"{label}: steady at {speed} since {since} ({count} runs)"
    return f"{text}{_newest(course)}."


def _stepped(history: History, course: Course) -> str:
    """The last step, and those before it."""
    *earlier, step = course.steps
    number = len(course.begins) - 1
    before, after = course.level(number - 1), course.level(number)
    runs = [history.run(course, step.at - 1), history.run(course, step.at)]
    speeds = [_speed(course.median_of(level)) for level in (before, after)]
    when = between(runs[0].begun, runs[1].begun, history.saved.runs[-1].begun)
    names = " and ".join(one_line(run.path.name, 80) for run in runs)
    text = f"{_label(history, course)} {_moved(step.change)} {when} (runs {names}), from {speeds[0]} to {speeds[1]}"
    text += f"; steady since then ({_count(after)}), and before that since {history.day(course, before.start)}"
    text += f" ({_count(before)})"
    others = [f"{_moved(one.change)} on {history.day(course, one.at)}" for one in reversed(earlier)]
    return f"{text}; earlier it {', '.join(others)}" if others else text


def _newest(course: Course) -> str:
    """How the newest run differs from the level that it is of, where that is more than scatter."""
    change, low, high = course.newest
    if course.reference.stop != len(course.points) - 1 or not (low > 0 or high < 0):
        return ""
    word = "slower" if change < 0 else "faster"
    ends = sorted((abs(low), abs(high)))
    count = len(course.reference)
    return (
        f"; the newest run is {_number(abs(change))} % [{', '.join(map(_number, ends))}] {word} than the {count} before"
    )


def _causes(history: History) -> list[str]:
    """What else changed at the last step of each row, rows that stepped together as one."""
    lines: dict[str, None] = {}
    for course in history.courses:
        if course.steps:
            step = course.steps[-1]
            paths = [str(history.run(course, point).path) for point in (step.at - 1, step.at)]
            lines[f"{_changed(history.causes(course, step))} More: `lab compare {' '.join(paths)}`."] = None
    return [one_line(line) for line in lines]


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


def _table(history: History, of_tool: Sequence[Course]) -> TextTable:
    runs = sorted({point.run for course in of_tool for point in course.points})
    cells = [_cells(course) for course in of_tool]
    shown = runs[-MOST_ROWS:]
    rows = [
        [f"{history.saved.runs[run].begun:%Y-%m-%d %H:%M}", *(by_run.get(run, "–") for by_run in cells)]
        for run in shown
    ]
    if earlier := runs[:-MOST_ROWS]:
        rows.insert(0, [f"{len(earlier)} earlier", *(_summarise(course, shown[0]) for course in of_tool)])
    name = stats.row_label({name: of_tool[0].at[name] for name in ("protocol", "tool")})
    caption = f"{one_line(name, 80)}: MB/s, median of a run [95 % interval of its trials]. ↓ ↑ a new level begins."
    return TextTable(["begun (UTC)", *(course.at["direction"] for course in of_tool)], rows, caption)


def _cells(course: Course) -> dict[int, str]:
    """What a table says of each run."""
    signs = {step.at: " ↓" if step.change[0] < 0 else " ↑" for step in course.steps}
    return {
        point.run: f"{_figure(point.median)}{_interval(point.low, point.high)}{signs.get(number, '')}"
        for number, point in enumerate(course.points)
    }


def _summarise(course: Course, end: int) -> str:
    """The median of the runs before one, and from the slowest to the fastest of them."""
    medians = [point.median for point in course.points if point.run < end]
    if not medians:
        return "–"
    return f"{_figure(float(np.median(medians)))} ({_figure(min(medians))} … {_figure(max(medians))})"


def _interval(low: float, high: float) -> str:
    return "" if np.isnan(low) else f" [{_figure(low)}, {_figure(high)}]"


def _ends_of_line(course: Course) -> tuple[str, str]:
    """Where the line of a drift begins and ends: at the median in its middle."""
    middle, half = course.median_of(range(len(course.points))), np.sqrt(1 + course.over_all[0] / 100)
    return _speed(middle / half), _speed(middle * half)


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
    """From the least to the largest; empty where there is none."""
    finite = [percent for percent in percents if np.isfinite(percent)]
    if not finite:
        return ""
    low, high = _number(min(finite)), _number(max(finite))
    return f"{low} %" if low == high else f"{low} to {high} %"


def _count(points: range) -> str:
    return f"{len(points)} run{'s' if len(points) != 1 else ''}"


def day(at: datetime, newest: datetime) -> str:
    """The day, such as ``3 March``; with its year where that is not the year of ``newest``."""
    return f"{at.day} {at:%B}" if at.year == newest.year else f"{at.day} {at:%B} {at.year}"


def between(before: datetime, after: datetime, newest: datetime) -> str:
    """The time between two moments, such as ``between 2 and 3 May``; with the time of day where it is one day."""
    if before.date() == after.date():
        return f"on {day(after, newest)}, between {before:%H:%M} and {after:%H:%M} UTC"
    is_one_month = (before.year, before.month) == (after.year, after.month)
    return f"between {before.day if is_one_month else day(before, newest)} and {day(after, newest)}"
