"""The speed of a share over its saved runs: each run a mark with its interval, each level a line."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab import stats
from lab.base.untrusted import one_line
from lab.report.figures import style
from lab.report.history import History, notes
from lab.stats.courses import Course
from lab.stats.intervals import Floats

PANEL_IN = 2.6
MOST_PANELS = 8  # protocols and tools: more would be a page high
NOT_FROM_0 = "The axis of speeds does not begin at 0."
LEVEL = Line2D([], [], color=style.INK, linewidth=2, label="level, or trend")
STEP = Line2D([], [], color=style.INK, linewidth=0.8, linestyle=(0, (3, 2)), label="a new level begins")
INSIDE = Line2D([], [], color=style.INK, linewidth=0.9, label="95 % interval inside a run")


def history(of: History) -> Figure:
    """One panel a protocol and tool, with both directions over time."""
    pairs: dict[tuple[str, str], list[Course]] = {}
    for course in of.courses:
        pairs.setdefault((course.at["protocol"], course.at["tool"]), []).append(course)
    shown = list(pairs.values())[:MOST_PANELS]
    left_out = [f"panels drawn: {MOST_PANELS} of {len(pairs)}"] if len(pairs) > MOST_PANELS else []
    figure = style.begin_over([_provenance(of), *notes(of), *left_out, NOT_FROM_0], 1.6 + PANEL_IN * max(1, len(shown)))
    panels = figure.subplots(max(1, len(shown)), 1, sharex=True, squeeze=False)[:, 0]
    for axes, of_tool in zip(panels, shown, strict=False):
        _draw_panel(axes, of, of_tool)
    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    panels[-1].xaxis.set_major_locator(locator)
    panels[-1].xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    ways = [way for way in ("write", "read") if any(course.at["direction"] == way for course in of.courses)]
    handles = [style.mark(style.WAYS[way], style.WAY_COLOURS[way], style.WAY_MARKERS[way]) for way in ways]
    style.add_legend(figure, f"Speed of {one_line(of.saved.name, 80)}, run by run", [*handles, INSIDE, LEVEL, STEP])
    return figure


def _provenance(of: History) -> str:
    """The hosts of the newest run, how many runs there are, and of which time."""
    first, *_, last = [of.saved.runs[0], *of.saved.runs]
    hosts = last.run.get("hosts", {})
    names = " → ".join(str(hosts[role].get("hostname", role)) for role in ("client", "server") if hosts.get(role))
    span = f"{len(of.saved.runs)} runs, {first.begun:%Y-%m-%d} to {last.begun:%Y-%m-%d}"
    return one_line(" · ".join(filter(None, [names, span])))


def _draw_panel(axes: Axes, of: History, of_tool: Sequence[Course]) -> None:
    for course in of_tool:
        way = course.at["direction"]
        at = date2num([run.begun for run in of.runs(course, range(len(course.points)))])  # type: ignore[no-untyped-call]
        medians, low, high = (
            np.array([getattr(point, name) for point in course.points]) for name in ("median", "low", "high")
        )
        axes.vlines(at, low, high, color=style.WAY_COLOURS[way], linewidth=0.9, alpha=0.6)
        style.add_marks(axes, at, medians, style.WAY_COLOURS[way], style.WAY_MARKERS[way], count=len(at), size=20)
        _draw_levels(axes, course, at)
    name = stats.row_label({name: of_tool[0].at[name] for name in ("protocol", "tool")})
    style.name_axes(axes, one_line(name, 80), "", style.SPEED)
    axes.margins(x=0.02, y=0.15)


def _draw_levels(axes: Axes, course: Course, at: Floats) -> None:
    """A line at each level, and one where a new one begins; of a drift its trend."""
    colour = style.WAY_COLOURS[course.at["direction"]]
    if course.is_drift:
        middle, half = course.median_of(range(len(at))), np.sqrt(1 + course.over_all[0] / 100)
        axes.plot([at[0], at[-1]], [middle / half, middle * half], color=colour, linewidth=2, zorder=2)
        return
    for number in range(len(course.begins)):
        points, speed = course.level(number), course.median_of(course.level(number))
        axes.plot([at[points.start], at[points.stop - 1]], [speed, speed], color=colour, linewidth=2, zorder=2)
        if number:
            axes.axvline(
                (at[points.start - 1] + at[points.start]) / 2, color=style.INK, linewidth=0.8, linestyle=(0, (3, 2))
            )
