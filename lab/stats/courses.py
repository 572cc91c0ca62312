"""The course of a share's speed over many runs: levels and steps, a drift, and how the newest run compares.

A run counts as one number, the median of its trials: trials of one run share its hour, and resemble one another more
than those of another run do. So how far runs scatter is taken from the runs, never from the trials inside one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np

from lab.results.saved_runs import SavedRun
from lab.results.trial import Trial
from lab.stats.change_points import best_split, correlation, criterion, cut, medians_of, scatter
from lab.stats.drift_slopes import theil_sen
from lab.stats.effect_ratios import SIGNIFICANCE
from lab.stats.factors import POOLED
from lab.stats.intervals import Floats, holm, median_interval, percent_change, t_interval

DAY_S = 86_400
TREND_DAYS = 30
LEAST_REFERENCE = 5  # runs that the newest one is compared with: of fewer nobody knows how far they scatter
PRIOR_FREEDOM = 4  # what a run's own spread is worth less than: a handful of trials says little of it
MEDIAN_COST = np.pi / 2  # the variance of a median of normal numbers over that of their mean
Key = tuple[str, str, str]  # the levels of POOLED
Change = tuple[float, float, float]  # in percent, with its 95 % interval; NaN where there is too little to tell
NO_CHANGE: Change = (np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class Point:
    """One run in one row: which run, how many trials count, their median in MB/s with its exact 95 % interval (NaN
    below 6 trials), and the standard deviation of their logarithms (NaN for one).
    """

    run: int
    n: int
    median: float
    low: float
    high: float
    spread: float


@dataclass(frozen=True)
class Step:
    """A change of level: ``at`` is the first point of the new one."""

    at: int
    change: Change


@dataclass(frozen=True)
class Course:
    """One protocol, tool and direction over all runs that have it.

    ``p`` is the p-value that its speed ever changed, adjusted for the number of rows; ``begins`` has the first point of
    each level, and is only 0 where nothing changed or the speed drifts. ``trend`` is the change in TREND_DAYS days,
    ``over_all`` that from the first run to the newest. ``newest`` compares the newest run with the points of
    ``reference``. ``between_pct`` is how far runs scatter around their level or line, ``within_pct`` how far trials
    scatter inside a run (standard deviations).
    """

    at: Mapping[str, str]
    points: Sequence[Point]
    p: float
    begins: Sequence[int]
    steps: Sequence[Step]
    is_drift: bool
    trend: Change
    over_all: Change
    newest: Change
    reference: range
    between_pct: float
    within_pct: float

    def level(self, number: int) -> range:
        """The points of a level, counted from the first, or with a negative number from the last."""
        ends = [*self.begins[1:], len(self.points)]
        return range(self.begins[number], ends[number])

    def median_of(self, points: range) -> float:
        """The median speed of some points in MB/s."""
        return float(np.median([self.points[number].median for number in points]))


def courses(runs: Sequence[SavedRun]) -> list[Course]:
    """The course of each protocol, tool and direction that any run has a good trial of, writes first."""
    return courses_of(_points_by_row(runs), [run.begun for run in runs])


def courses_of(rows: Mapping[Key, Sequence[Point]], begun: Sequence[datetime]) -> list[Course]:
    """The same of the points of each row, whose runs began at these times; writes first."""
    rows = dict(sorted(rows.items(), key=lambda row: (row[0][:2], row[0][2] != "write")))
    days = np.array([time.timestamp() / DAY_S for time in begun])
    adjusted = holm([p_of_change(points) for points in rows.values()])
    return [
        course(key, points, days[[point.run for point in points]], float(p))
        for (key, points), p in zip(rows.items(), adjusted, strict=True)
    ]


def p_of_change(points: Sequence[Point]) -> float:
    """The p-value that the speed of one row ever changed; NaN of too few points."""
    return best_split(_logs(points), _weights(points)).p


def _points_by_row(runs: Sequence[SavedRun]) -> dict[Key, list[Point]]:
    rows: dict[Key, list[Point]] = {}
    for number, run in enumerate(runs):
        speeds: dict[Key, list[float]] = {}
        for trial in run.trials:
            if trial.status == "ok" and trial.elapsed_s and trial.size_bytes:
                speeds.setdefault(_key(trial), []).append(trial.size_bytes / trial.elapsed_s / 1e6)
        for key, values in speeds.items():
            rows.setdefault(key, []).append(point_of(number, np.array(values)))
    return rows


def _key(trial: Trial) -> Key:
    protocol, tool, direction = (str(getattr(trial, name)) for name in POOLED)
    return protocol, tool, direction


def point_of(run: int, speeds: Floats) -> Point:
    """One run in one row, of the speeds of its good trials in MB/s."""
    n = len(speeds)
    spread = float(np.log(speeds).std(ddof=1)) if n > 1 else np.nan
    return Point(run, n, float(np.median(speeds)), *median_interval(speeds), spread)


def _logs(points: Sequence[Point]) -> Floats:
    logs: Floats = np.log([point.median for point in points])
    return logs


def _errors(points: Sequence[Point]) -> Floats:
    """The squared standard error of each run's log median, from its own trials.

    A spread of few trials is moderated by that of all runs, as if these were PRIOR_FREEDOM trials more.
    """
    counts = np.array([point.n for point in points], dtype=float)
    squares = np.array([point.spread for point in points]) ** 2
    freedom = np.where(np.isfinite(squares), counts - 1, 0)
    squares = np.where(freedom > 0, squares, 0)
    usual = (freedom * squares).sum() / max(1.0, freedom.sum())
    errors: Floats = (freedom * squares + PRIOR_FREEDOM * usual) / (freedom + PRIOR_FREEDOM) * MEDIAN_COST / counts
    return errors


def _weights(points: Sequence[Point]) -> Floats:
    """What each run counts in a test: one over the variance of its median, between runs and inside it, 1 on average.

    At least half of how far neighbours differ is taken to lie between runs: a run of many trials is no many runs.
    """
    errors = _errors(points)
    total = scatter(np.diff(_logs(points))) ** 2 / 2 if len(points) > 2 else 0.0
    variances = max(total - float(np.median(errors)), total / 2) + errors
    raw = 1 / variances if (variances > 0).all() else np.ones(len(points))
    weights: Floats = raw / raw.mean()
    return weights


def course(key: Key, points: Sequence[Point], days: Floats, p: float) -> Course:
    """The course of one row, whose points lie at these days; ``p`` is that of a change, adjusted for all rows."""
    logs, weights = _logs(points), _weights(points)
    begins = cut(logs, weights, SIGNIFICANCE) if p < SIGNIFICANCE else [0]
    slope = theil_sen(days, logs)
    line = slope[0] * days + np.median(logs - slope[0] * days)
    is_drift = len(begins) > 1 and _fits_better(logs, line, begins)
    begins = [0] if is_drift else begins
    residuals, means = logs - (line if is_drift else medians_of(logs, begins)), 2 if is_drift else len(begins)
    alike = correlation(residuals, means)
    between = scatter(residuals) * np.sqrt(len(logs) / max(1, len(logs) - means))
    trend = theil_sen(days, logs, alike)
    over_all = _percents(trend, days[-1] - days[0])
    reference = _longest(begins, len(logs) - 1)
    newest = over_all if is_drift else _compare_newest(logs, reference, _errors(points))
    steps = [_step(logs, begins, number, between, alike) for number in range(1, len(begins))]
    spreads = [point.spread for point in points if np.isfinite(point.spread)]
    return Course(
        dict(zip(POOLED, key, strict=True)), points, p, begins, steps, is_drift, _percents(trend, TREND_DAYS), over_all,
        newest, range(len(logs) - 1) if is_drift else reference, _percent(between),
        _percent(float(np.median(spreads))) if spreads else np.nan,
    )  # fmt: skip


def _fits_better(logs: Floats, line: Floats, begins: Sequence[int]) -> bool:
    """Whether a line fits better than levels, each of which costs a height and a place."""
    return criterion(logs - line, 2) < criterion(logs - medians_of(logs, begins), 2 * len(begins) - 1)


def _step(logs: Floats, begins: Sequence[int], number: int, between: float, alike: float) -> Step:
    """The change at the begin of a level, over the level before it, by the scatter of all runs around their levels."""
    start, at, end = [*begins, len(logs)][number - 1 : number + 2]
    before, after = logs[start:at], logs[at:end]
    change = float(np.median(after) - np.median(before))
    error = between * np.sqrt(MEDIAN_COST * (1 / len(before) + 1 / len(after)) * (1 + alike) / (1 - alike))
    half = _half_width(error, len(logs) - len(begins))
    return Step(at, _percents((change, change - half, change + half)))


def _longest(begins: Sequence[int], end: int) -> range:
    """The level with most of the first ``end`` points; of equally long ones the last."""
    bounds = [*(begin for begin in begins if begin < end), end]
    levels = [range(*pair) for pair in pairwise(bounds)]
    return max(levels, key=lambda level: (len(level), level.start), default=range(0))


def _compare_newest(logs: Floats, reference: range, errors: Floats) -> Change:
    """The newest point over the median of ``reference``, with the interval in which a further point of these would lie.

    It is Student's, for one more normal number (Hahn and Meeker, Statistical Intervals, section 4.7), with a robust
    centre and scale, which count for half of the degrees of freedom. A newest run that is less certain in itself than
    runs are has its error added.
    """
    if len(reference) < LEAST_REFERENCE:
        return NO_CHANGE
    earlier = logs[reference.start : reference.stop]
    change = float(logs[-1] - np.median(earlier))
    more = max(0.0, float(errors[-1] - np.median(errors)))
    error = float(np.sqrt(scatter(earlier) ** 2 * (1 + MEDIAN_COST / len(earlier)) + more))
    half = _half_width(error, len(earlier) - 1)
    return _percents((change, change - half, change + half))


def _half_width(error: float, freedom: int) -> float:
    """For a 95 % interval by a robust scale, which is as good as the standard deviation of half as many numbers."""
    one = np.ones(1)
    return float(t_interval(one.astype(np.int64), one, error * one, freedom / 2 * one).half[0])


def _percents(logs: Sequence[float], factor: float = 1.0) -> Change:
    estimate, low, high = (_percent(value * factor) for value in logs)
    return estimate, low, high


def _percent(log_ratio: float) -> float:
    return float(percent_change(1.0, np.exp(log_ratio)))
