"""One's own run beside published figures: how many times as fast, and what a setting changes in both."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab.base.untrusted import one_line
from lab.report.compared.words import times_as_fast
from lab.report.figures import style
from lab.report.figures.values import tell
from lab.stats.intervals import Floats

MOST_ROWS = 60  # of a figure: more would be a page high
BOLD, PLAIN = {"weight": "bold", "fontsize": 8.5}, {"fontsize": 7.5}
OWN = style.PALETTE[0]
INTERVAL = Line2D([], [], color=OWN, linewidth=1.5, label="95 % interval of B")
PUBLISHED = style.mark("published", style.INK, "|", 9)
B, HOLLOW = style.mark("B", OWN, "o"), style.mark("B, not told apart from no change", OWN, "o", hollow=True)


def ratios_figure(rows: Sequence[tuple[str, str, Mapping[str, float]]], footer: Sequence[str]) -> Figure:
    """``rows`` are the published table, what a figure is of, and its ratio with its interval."""
    shown = rows[:MOST_ROWS]
    figure, axes, at = _begin(rows, [(table, name) for table, name, _ in shown], footer)
    ends = np.log([[ratio[key] for key in ("ratio", "ratio_low", "ratio_high")] for _, _, ratio in shown])
    low, high = _limits(ends)
    axes.axvline(0, color=style.INK, linewidth=0.8)
    axes.hlines(at, *np.clip(ends[:, 1:], 3 * low, 3 * high).T, color=OWN, linewidth=1.5, zorder=3)
    axes.plot(ends[:, 0], at, linestyle="", marker="o", color=OWN, markersize=5, zorder=5)
    words = [f"{table}, {name}: B is {times_as_fast(ratio, 'published')}" for table, name, ratio in shown]
    tell(axes, ends[:, 0], at, words)
    style.set_axis(axes, low, high, style.times_ticks(low, high), "times as fast as published (axis of ratios)")
    style.add_legend(figure, "How many times as fast as published", [B, INTERVAL])
    return figure


def changes_figure(rows: Sequence[tuple[str, str, float, tuple[float, float, float]]], footer: Sequence[str]) -> Figure:
    """``rows`` are the published table, what a figure is of, its published change in percent, and that of B with its
    interval.
    """
    shown = rows[:MOST_ROWS]
    figure, axes, at = _begin(rows, [(table, name) for table, name, _, _ in shown], footer)
    if not shown:
        style.note(axes, "no published change has an interval in B")
    published = np.log1p(np.array([change for _, _, change, _ in shown]) / 100)
    own = np.log1p(np.array([change for *_, change in shown]).reshape(-1, 3) / 100)
    low, high = _limits(np.column_stack([own, published]))
    axes.axvline(0, color=style.INK, linewidth=0.8)
    axes.hlines(at, *np.clip(own[:, 1:], 3 * low, 3 * high).T, color=OWN, linewidth=1.5, zorder=3)
    axes.plot(published, at, linestyle="", marker="|", markersize=9, markeredgewidth=2, color=style.INK, zorder=4)
    is_established = (own[:, 1] > 0) | (own[:, 2] < 0)
    style.mark_means(axes, own[:, 0], at, (OWN, "o", 5), is_established)
    words = [
        f"{table}, {name}: {change:+.1f} % as published, {mean:+.1f} % in B (95 % interval {first:+.1f} to {last:+.1f})"
        for table, name, change, (mean, first, last) in shown
    ]
    tell(axes, own[:, 0], at, words)
    style.set_axis(axes, low, high, style.percent_ticks(low, high), "change of throughput, % (axis of ratios)")
    style.add_legend(figure, "What a setting changes, then and now", [PUBLISHED, B, HOLLOW, INTERVAL])
    return figure


def _begin(
    rows: Sequence[object], shown: Sequence[tuple[str, str]], footer: Sequence[str]
) -> tuple[Figure, Axes, Floats]:
    """A figure with a row for each, below the name of its table; the heights of the rows."""
    left_out = [f"rows drawn: the first {len(shown)} of {len(rows)}; the tables have them all"]
    lines = [one_line(part, 390) for part in (*footer, *(left_out if len(rows) > len(shown) else []))]
    names: list[str] = []
    looks: list[Mapping[str, object]] = []
    at: list[float] = []
    for place, (table, name) in enumerate(shown):
        if not place or shown[place - 1][0] != table:
            names.append(table)
            looks.append(BOLD)
        at.append(float(len(names)))
        names.append(name)
        looks.append(PLAIN)
    height = sum(0.13 * -(-len(part) // 130) for part in lines)
    figure = style.begin_over(lines, 1.3 + height + 0.2 * max(len(names), 4))
    axes = figure.subplots()
    style.name_rows(axes, names, looks)
    return figure, axes, np.array(at, dtype=float)


def _limits(places: Floats) -> tuple[float, float]:
    finite = places[np.isfinite(places)]
    return min(-style.LEAST_REACH, float(finite.min(initial=0))), max(style.LEAST_REACH, float(finite.max(initial=0)))
