"""The history of a share's speed over many runs: levels and steps, a drift, and how the newest run compares.

A run counts as one number, the median of its trials, because trials of one run resemble one another. So the scatter
of runs is measured between runs, never from the trials inside one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np

from lab.base.groups import grouped
from lab.results.saved_runs import SavedRun
from lab.stats.change_points import best_split, by_level, correlation, criterion, cut, scatter
from lab.stats.drift_slopes import theil_sen
from lab.stats.effect_ratios import SIGNIFICANCE
from lab.stats.factors import POOLED
from lab.stats.intervals import Floats, change_with_interval, holm, log_percent, median_interval, t_interval

DAY_S = 86_400
TREND_DAYS = 30
LEAST_REFERENCE = 5  # runs that the newest one is compared with; fewer do not show their scatter
PRIOR_FREEDOM = 4  # degrees of freedom of the usual spread, because a few trials hardly show their run's own
MEDIAN_COST = np.pi / 2  # the variance of the median of normal numbers over the variance of their mean
Key = tuple[str, str, str]  # the levels of POOLED
Change = tuple[float, float, float]  # in percent, with its 95 % interval; NaN where there is too little to tell
NO_CHANGE: Change = (np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class Point:
    """One run in one row: the run, its number of trials, and their median in MB/s with its exact 95 % interval (NaN
    below 6 trials). ``spread`` is the standard deviation of the logarithms (NaN for one trial).
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
class SpeedHistory:
    """One protocol, tool and direction over all runs that have it.

    ``p`` is the p-value of any change of speed, adjusted for the number of rows. ``begins`` has the first point of each
    level: only 0 without a change, or with a drift. ``trend`` is the change in TREND_DAYS days; ``over_all`` is the
    change from the first run to the newest; ``newest`` compares the newest run with the points of ``reference``.
    Standard deviations: ``between_pct`` of runs around their level or line, ``within_pct`` of trials inside a run.
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


def speed_histories(runs: Sequence[SavedRun]) -> list[SpeedHistory]:
    """The history of each protocol, tool and direction with a good trial in any run, writes first."""
    rows: dict[Key, list[Point]] = {}
    for number, run in enumerate(runs):
        speeds = grouped(
            ((trial.protocol, trial.tool, str(trial.direction)), trial.size_bytes / trial.elapsed_s / 1e6)
            for trial in run.trials
            if trial.status == "ok" and trial.elapsed_s and trial.size_bytes
        )
        for key, values in speeds.items():
            rows.setdefault(key, []).append(point_of(number, np.array(values)))
    return speed_histories_of(rows, [run.begun for run in runs])


def speed_histories_of(rows: Mapping[Key, Sequence[Point]], begun: Sequence[datetime]) -> list[SpeedHistory]:
    """The histories of rows of points, whose runs began at these times; writes first."""
    rows = dict(sorted(rows.items(), key=lambda row: (row[0][:2], row[0][2] != "write")))
    days = np.array([time.timestamp() / DAY_S for time in begun])
    adjusted = holm([p_of_change(points) for points in rows.values()])
    return [
        speed_history(key, points, days[[point.run for point in points]], float(p))
        for (key, points), p in zip(rows.items(), adjusted, strict=True)
    ]


def p_of_change(points: Sequence[Point]) -> float:
    """The p-value of any change of speed in one row; NaN if points are too few."""
    return best_split(_logs(points), _weights(points)).p


def point_of(run: int, speeds: Floats) -> Point:
    """The point of one run in one row, from the speeds of its good trials in MB/s."""
    n = len(speeds)
    spread = float(np.log(speeds).std(ddof=1)) if n > 1 else np.nan
    return Point(run, n, float(np.median(speeds)), *median_interval(speeds), spread)


def _logs(points: Sequence[Point]) -> Floats:
    return np.log([point.median for point in points])


def _errors(points: Sequence[Point]) -> Floats:
    """The squared standard error of each run's log median, from its trials, moderated by the spread of all runs."""
    counts = np.array([point.n for point in points], dtype=float)
    squares = np.array([point.spread for point in points]) ** 2
    freedom = np.where(np.isfinite(squares), counts - 1, 0)
    squares = np.where(freedom > 0, squares, 0)
    usual = (freedom * squares).sum() / max(1.0, freedom.sum())
    errors: Floats = (freedom * squares + PRIOR_FREEDOM * usual) / (freedom + PRIOR_FREEDOM) * MEDIAN_COST / counts
    return errors


def _weights(points: Sequence[Point]) -> Floats:
    """Weights of runs in a test: 1 / variance of the median, of which at least half is between runs; 1 on average."""
    errors = _errors(points)
    total = scatter(np.diff(_logs(points))) ** 2 / 2 if len(points) > 2 else 0.0
    variances = max(total - float(np.median(errors)), total / 2) + errors
    raw = 1 / variances if (variances > 0).all() else np.ones(len(points))
    weights: Floats = raw / raw.mean()
    return weights


def speed_history(key: Key, points: Sequence[Point], days: Floats, p: float) -> SpeedHistory:
    """The history of one row of points at these days; ``p``: see :class:`SpeedHistory`."""
    logs, weights = _logs(points), _weights(points)
    begins = cut(logs, weights, SIGNIFICANCE) if p < SIGNIFICANCE else [0]
    slope = theil_sen(days, logs)
    line = slope[0] * days + np.median(logs - slope[0] * days)
    levels = by_level(logs, begins, np.median)
    fits_better = criterion(logs - line, 2) < criterion(logs - levels, 2 * len(begins) - 1)  # a level has 2 parameters
    is_drift = len(begins) > 1 and fits_better
    begins = [0] if is_drift else begins
    residuals, means = (logs - line, 2) if is_drift else (logs - levels, len(begins))
    alike = correlation(residuals, means)
    between = scatter(residuals) * np.sqrt(len(logs) / max(1, len(logs) - means))
    trend = theil_sen(days, logs, alike)
    in_trend_days = change_with_interval(np.array(trend) * TREND_DAYS)
    over_all = change_with_interval(np.array(trend) * (days[-1] - days[0]))
    ranges = [range(*pair) for pair in pairwise([*(begin for begin in begins if begin < len(logs) - 1), len(logs) - 1])]
    reference = max(ranges, key=lambda level: (len(level), level.start), default=range(0))  # the last of equally long
    newest = over_all if is_drift else _compare_newest(logs, reference, _errors(points))
    steps = [_step(logs, begins, number, between, alike) for number in range(1, len(begins))]
    spreads = [point.spread for point in points if np.isfinite(point.spread)]
    between_pct, within_pct = log_percent(np.array([between, np.median(spreads) if spreads else np.nan]))
    return SpeedHistory(
        dict(zip(POOLED, key, strict=True)), points, p, begins, steps, is_drift, in_trend_days, over_all,
        newest, range(len(logs) - 1) if is_drift else reference, float(between_pct), float(within_pct),
    )  # fmt: skip


def _step(logs: Floats, begins: Sequence[int], number: int, between: float, alike: float) -> Step:
    """The change from one level to the next; its interval is by the scatter of all runs around their levels."""
    start, at, end = [*begins, len(logs)][number - 1 : number + 2]
    before, after = logs[start:at], logs[at:end]
    change = float(np.median(after) - np.median(before))
    error = between * np.sqrt(MEDIAN_COST * (1 / len(before) + 1 / len(after)) * (1 + alike) / (1 - alike))
    half = _half_width(error, len(logs) - len(begins))
    return Step(at, change_with_interval(np.array([change, change - half, change + half])))


def _compare_newest(logs: Floats, reference: range, errors: Floats) -> Change:
    """The newest point over the median of ``reference``, with the prediction interval for one more of these points.

    Student's interval for one more normal number (Hahn and Meeker, Statistical Intervals, section 4.7) with a robust
    centre and scale, which halve the degrees of freedom. If the newest run is less certain than usual, its error is
    added.
    """
    if len(reference) < LEAST_REFERENCE:
        return NO_CHANGE
    earlier = logs[reference.start : reference.stop]
    change = float(logs[-1] - np.median(earlier))
    more = max(0.0, float(errors[-1] - np.median(errors)))
    error = float(np.sqrt(scatter(earlier) ** 2 * (1 + MEDIAN_COST / len(earlier)) + more))
    half = _half_width(error, len(earlier) - 1)
    return change_with_interval(np.array([change, change - half, change + half]))


def _half_width(error: float, freedom: int) -> float:
    """Half a 95 % interval by a robust scale, which is worth the standard deviation of half as many numbers."""
    one = np.ones(1)
    return float(t_interval(one.astype(np.int64), one, error * one, freedom / 2 * one).half[0])
