"""A run beside published figures: how many times as fast it is, and what a setting changes in both."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab.report.figures import style
from lab.report.figures.values import tell
from lab.report.prose import times_as_fast
from lab.stats.intervals import Floats

MOST_ROWS = 60  # in a figure; more would be a page high
OWN = style.PALETTE[0]
INTERVAL = Line2D([], [], color=OWN, linewidth=1.5, label="95 % interval of B")
PUBLISHED = style.mark("published", style.INK, "|", 9)
B, HOLLOW = style.mark("B", OWN, "o"), style.mark("B, not told apart from no change", OWN, "o", hollow=True)


def ratios_figure(rows: Sequence[tuple[str, str, Mapping[str, float]]], footer: Sequence[str]) -> Figure:
    """``rows`` have the published table, what a figure is of, and its ratio with its interval."""
    shown = rows[:MOST_ROWS]
    figure, axes, at = _begin(len(rows), [(table, name) for table, name, _ in shown], footer)
    ends = np.log([[ratio[key] for key in ("ratio", "ratio_low", "ratio_high")] for _, _, ratio in shown])
    low, high = _draw_intervals(axes, at, ends[:, 1:], ends)
    axes.plot(ends[:, 0], at, linestyle="", marker="o", color=OWN, markersize=5, zorder=5)
    words = [f"{table}, {name}: B is {times_as_fast(ratio, 'published')}" for table, name, ratio in shown]
    tell(axes, ends[:, 0], at, words)
    style.set_ratio_axis(axes, low, high, "times as fast as published (axis of ratios)", in_times=True)
    style.add_legend(figure, "How many times as fast as published", [B, INTERVAL])
    return figure


def changes_figure(rows: Sequence[tuple[str, str, float, tuple[float, float, float]]], footer: Sequence[str]) -> Figure:
    """``rows`` have the published table, what a figure is of, its published change, and B's with its interval, in %."""
    shown = rows[:MOST_ROWS]
    figure, axes, at = _begin(len(rows), [(table, name) for table, name, _, _ in shown], footer)
    if not shown:
        style.note(axes, "no published change has an interval in B")
    published = np.log1p(np.array([change for _, _, change, _ in shown]) / 100)
    own = np.log1p(np.array([change for *_, change in shown]).reshape(-1, 3) / 100)
    low, high = _draw_intervals(axes, at, own[:, 1:], np.column_stack([own, published]))
    axes.plot(published, at, linestyle="", marker="|", markersize=9, markeredgewidth=2, color=style.INK, zorder=4)
    style.mark_means(axes, own[:, 0], at, (OWN, "o", 5), (own[:, 1] > 0) | (own[:, 2] < 0))
    words = [
        f"{table}, {name}: {change:+.1f} % as published, {mean:+.1f} % in B (95 % interval {first:+.1f} to {last:+.1f})"
        for table, name, change, (mean, first, last) in shown
    ]
    tell(axes, own[:, 0], at, words)
    style.set_ratio_axis(axes, low, high, "change of throughput, % (axis of ratios)")
    style.add_legend(figure, "What a setting changes, then and now", [PUBLISHED, B, HOLLOW, INTERVAL])
    return figure


def _begin(count: int, shown: Sequence[tuple[str, str]], footer: Sequence[str]) -> tuple[Figure, Axes, Floats]:
    """A figure with a row for each of ``shown`` of ``count``, below the name of its table; the heights of the rows."""
    left_out = f"rows drawn: the first {len(shown)} of {count}; the tables have them all" if count > len(shown) else ""
    names: list[tuple[str, style.Look]] = []
    at: list[float] = []
    for place, (table, name) in enumerate(shown):
        if not place or shown[place - 1][0] != table:
            names.append((table, style.BOLD))
        at.append(float(len(names)))
        names.append((name, style.PLAIN))
    figure = style.begin_compared([*footer, left_out], 0.2 * max(len(names), 4))
    axes = figure.subplots()
    style.name_rows(axes, [name for name, _ in names], [look for _, look in names])
    return figure, axes, np.array(at, dtype=float)


def _draw_intervals(axes: Axes, at: Floats, ends: Floats, every: Floats) -> tuple[float, float]:
    """Draw the intervals, and a line where the ratio is 1; the ends of an axis that holds ``every`` value."""
    finite = every[np.isfinite(every)]
    low = min(-style.LEAST_REACH, float(finite.min(initial=0)))
    high = max(style.LEAST_REACH, float(finite.max(initial=0)))
    axes.axvline(0, color=style.INK, linewidth=0.8)
    axes.hlines(at, *np.clip(ends, 3 * low, 3 * high).T, color=OWN, linewidth=1.5, zorder=3)
    return low, high
