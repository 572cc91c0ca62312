"""The speed of a share over its saved runs: each run a mark with its interval, each level a line."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab.base.untrusted import one_line
from lab.report.figures import style
from lab.report.history import History, by_tool, ends_of_drift, notes, tool_label
from lab.stats.intervals import Floats
from lab.stats.speed_histories import SpeedHistory

PANEL_IN = 2.6
MOST_PANELS = 8  # protocols and tools: more would be a page high
NOT_FROM_0 = "The axis of speeds does not begin at 0."
LEVEL = Line2D([], [], color=style.INK, linewidth=2, label="level, or trend")
STEP = Line2D([], [], color=style.INK, linewidth=0.8, linestyle=(0, (3, 2)), label="a new level begins")
INSIDE = Line2D([], [], color=style.INK, linewidth=0.9, label="95 % interval inside a run")


def draw_history(history: History) -> Figure:
    """One panel a protocol and tool, with both directions over time."""
    tools = by_tool(history)
    shown = tools[:MOST_PANELS]
    left_out = [f"panels drawn: {MOST_PANELS} of {len(tools)}"] if len(tools) > MOST_PANELS else []
    footer = [_provenance(history), *notes(history), *left_out, NOT_FROM_0]
    figure = style.begin_over(footer, 1.6 + PANEL_IN * max(1, len(shown)))
    panels = figure.subplots(max(1, len(shown)), 1, sharex=True, squeeze=False)[:, 0]
    for axes, rows in zip(panels, shown, strict=False):
        _draw_panel(axes, history, rows)
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    panels[-1].xaxis.set_major_locator(locator)
    panels[-1].xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    directions = style.direction_marks(row.at["direction"] for row in history.rows)
    title = f"Speed of {one_line(history.saved.name, 80)}, run by run"
    style.add_legend(figure, title, [*directions, INSIDE, LEVEL, STEP])
    return figure


def _provenance(history: History) -> str:
    first, last = history.saved.runs[0], history.saved.runs[-1]
    hosts = last.run.get("hosts", {})
    names = " → ".join(str(hosts[role].get("hostname", role)) for role in ("client", "server") if hosts.get(role))
    span = f"{len(history.saved.runs)} runs, {first.begun:%Y-%m-%d} to {last.begun:%Y-%m-%d}"
    return one_line(" · ".join(filter(None, [names, span])))


def _draw_panel(axes: Axes, history: History, rows: Sequence[SpeedHistory]) -> None:
    for row in rows:
        colour, marker = (of_way[row.at["direction"]] for of_way in (style.WAY_COLOURS, style.WAY_MARKERS))
        at = date2num([run.begun for run in history.runs(row, range(len(row.points)))])  # type: ignore[no-untyped-call]
        medians, low, high = np.array([(point.median, point.low, point.high) for point in row.points]).T
        axes.vlines(at, low, high, color=colour, linewidth=0.9, alpha=0.6)
        style.add_marks(axes, at, medians, (colour, marker), count=len(at), size=20)
        _draw_levels(axes, row, at, colour)
    style.name_axes(axes, tool_label(rows), "", style.SPEED)
    axes.margins(x=0.02, y=0.15)


def _draw_levels(axes: Axes, row: SpeedHistory, at: Floats, colour: str) -> None:
    if row.is_drift:
        axes.plot([at[0], at[-1]], ends_of_drift(row), color=colour, linewidth=2, zorder=2)
        return
    for number in range(len(row.begins)):
        points, speed = row.level(number), row.median_of(row.level(number))
        axes.plot([at[points.start], at[points.stop - 1]], [speed, speed], color=colour, linewidth=2, zorder=2)
        if number:
            between = (at[points.start - 1] + at[points.start]) / 2
            axes.axvline(between, color=style.INK, linewidth=0.8, linestyle=(0, (3, 2)))
