"""One function a figure: each takes the frame of :func:`lab.results.load` and returns a matplotlib Figure.

Every trial is a mark of its own; a median never stands without its trials. Void and failed trials are crosses and are
in no median. Figures are made without pyplot: nothing global is opened, so nothing has to be closed.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab import stats
from lab.lettering import as_is, drawable

# Okabe and Ito (2008), told apart by colour-blind eyes too; without their yellow, which is faint on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "<", ">")
WAYS = {"write": "write (client → server)", "read": "read (server → client)"}
WAY_MARKERS = {"write": ">", "read": "<"}
WAY_COLOURS = {"write": "#009E73", "read": "#E69F00"}
INK, PALE = "#222222", "#8a8a8a"
SPEED = "MB/s (10⁶ bytes/s)"
WIDTH_IN, DPI = 8.0, 150


def throughput(trials: pd.DataFrame) -> Figure:
    """Speed of every trial by protocol and tool, one panel a direction; the ceiling beside each strip of trials."""
    shown = _labelled(stats.transfers(trials).dropna(subset="MB_per_s"))
    if shown.empty:
        return _empty(trials, "Throughput", "no transfer could be measured")
    mtus, spaces = stats.levels(shown, "mtu"), stats.levels(shown, "tcp_space")
    colours, markers = _styles(mtus, PALETTE), _styles(spaces, MARKERS)
    strips = list(itertools.product(mtus, spaces))
    directions = stats.levels(shown, "direction")
    figure, panels, rows = _panels(trials, shown, len(strips), len(directions), sharex=True)
    ceilings = stats.ceilings(trials).set_index(["direction", "mtu", "tcp_space"])["median_MB_per_s"].dropna().to_dict()
    limit = max(_limit(shown, "MB_per_s"), 1.09 * max(ceilings.values(), default=0))
    for axes, direction in zip(panels, directions, strict=True):
        here = shown[shown["direction"] == direction]
        for strip in _strips(here, "MB_per_s", rows, ("mtu", "tcp_space"), strips):
            mtu, space = strip.at
            strip.tick(axes, ceilings.get((direction, mtu, space), np.nan), colours[mtu], 1.2)
            strip.tick(axes, strip.median, INK, 1.8)
            strip.dots(axes, colours[mtu], markers[space], limit)
        _name(axes, WAYS[direction], SPEED)
        axes.set_xlim(0, 1.03 * limit)
    handles = [_mark(f"MTU {mtu}", colours[mtu], "o") for mtu in mtus]
    handles += [_mark(f"TCP buffer {stats.size_label(space)}", PALE, markers[space]) for space in spaces]
    _legend(figure, "Throughput of every trial", [*handles, _mark("ceiling (iperf3)", PALE, "|", 9), MEDIAN, CROSS])
    return figure


def effects(trials: pd.DataFrame) -> Figure:
    """What MTU and TCP buffer change, in percent: every pair of trials of one block a dot, the median with interval."""
    title = "What a setting changes: pairs of trials within a block"
    compared = stats.contrasts(trials)
    paired = [_labelled(stats.pairs(trials, *contrast)).assign(status="ok") for contrast in compared]
    compared = [contrast for contrast, pairs in zip(compared, paired, strict=True) if len(pairs)]
    paired = [pairs for pairs in paired if len(pairs)]
    if not paired:
        return _empty(
            trials, title, "no two levels of MTU or TCP buffer were measured in one block: nothing to compare"
        )
    everything = pd.concat(paired)
    directions = stats.levels(everything, "direction")
    figure, panels, rows = _panels(trials, everything, len(directions), len(paired), sharex=False)
    for axes, (factor, baseline, level), pairs in zip(panels, compared, paired, strict=True):
        axes.use_sticky_edges = False  # or the bars of the intervals would take the margins away
        axes.axvline(0, color=INK, linewidth=0.8)
        for strip in _strips(pairs, "change_pct", rows, ("direction",), [(way,) for way in directions]):
            way = strip.at[0]
            low, high = stats.median_interval(strip.good)
            axes.barh(strip.y, high - low, left=low, height=1.3 * strip.half, color=WAY_COLOURS[way], alpha=0.25)
            strip.tick(axes, strip.median, INK, 1.8)
            strip.dots(axes, WAY_COLOURS[way], WAY_MARKERS[way], np.inf)
        _name(axes, stats.change_label(factor, baseline, level), "change of throughput, %")
    interval = Line2D([], [], color=PALE, alpha=0.4, linewidth=6, label="95 % interval of the median (from 6 pairs)")
    marks = [_mark(WAYS[way], WAY_COLOURS[way], WAY_MARKERS[way]) for way in directions]
    _legend(figure, title, [*marks, MEDIAN, interval])
    return figure


def cpu_cost(trials: pd.DataFrame) -> Figure:
    """CPU seconds per GB moved, on the client and on the server: every trial a mark, the median a bar."""
    columns = {"client": "client_cpu_s_per_GB", "server": "server_cpu_s_per_GB"}
    shown = _labelled(stats.transfers(trials).dropna(subset=list(columns.values()), how="all"))
    if shown.empty:
        return _empty(trials, "CPU cost", "CPU time was not measured")
    mtus, directions = stats.levels(shown, "mtu"), stats.levels(shown, "direction")
    colours = _styles(mtus, PALETTE)
    strips = list(itertools.product(directions, mtus))
    figure, panels, rows = _panels(trials, shown, len(strips), len(columns), sharex=True)
    limit = _limit(shown, *columns.values())
    for axes, (side, column) in zip(panels, columns.items(), strict=True):
        for strip in _strips(shown.dropna(subset=column), column, rows, ("direction", "mtu"), strips):
            direction, mtu = strip.at
            axes.barh(strip.y, strip.median, height=1.7 * strip.half, color=colours[mtu], alpha=0.22)
            strip.tick(axes, strip.median, INK, 1.8)
            strip.dots(axes, colours[mtu], WAY_MARKERS[direction], limit)
        _name(axes, f"on the {side}", "CPU seconds per GB (10⁹ bytes)")
        if not shown[column].notna().any():
            _note(axes, "not measured")
        axes.set_xlim(0, 1.03 * limit)
    handles = [_mark(f"MTU {mtu}", colours[mtu], "o") for mtu in mtus]
    handles += [_mark(WAYS[way], PALE, WAY_MARKERS[way]) for way in directions]
    _legend(figure, "CPU cost of a gigabyte moved", [*handles, MEDIAN, CROSS])
    return figure


def timeline(trials: pd.DataFrame) -> Figure:
    """Speed in order of execution, and how far each trial lies from the median of its own case: drift shows there."""
    shown = trials.sort_values("started_at", kind="stable").dropna(subset="MB_per_s").reset_index(drop=True)
    if shown.empty:
        return _empty(trials, "Timeline", "no trial could be measured")
    figure = _figure(trials, 6.2)
    panels = speed, drift = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    colours = {"link": INK} | _styles(stats.levels(stats.transfers(shown), "protocol"), PALETTE)
    good, bad, change = shown[shown["status"] == "ok"], shown[shown["status"] != "ok"], stats.drift(shown)
    for name, direction in itertools.product(colours, WAYS):
        part = good[(good["protocol"] == name) & (good["direction"] == direction)]
        for axes, values in ((speed, part["MB_per_s"]), (drift, change[change.index.isin(part.index)])):
            axes.scatter(values.index, values, s=20, color=colours[name], marker=WAY_MARKERS[direction], linewidths=0)
    limit = _limit(shown, "MB_per_s")
    _crosses(speed, bad.index, bad["MB_per_s"].clip(upper=limit), bad["MB_per_s"], limit)
    _mark_blocks(panels, shown, change)
    _name(speed, "", "", SPEED)
    speed.set_ylim(0, 1.03 * limit)
    drift.margins(x=0.01)
    drift.axhline(0, color=INK, linewidth=0.8)
    _name(drift, "", "trial, in order of execution", "from the median\nof the same case, %")
    if change.empty:
        _note(drift, "no case was measured twice")
    handles = [_mark("link (iperf3)" if name == "link" else name.upper(), colours[name], "o") for name in colours]
    handles += [_mark(way, PALE, marker) for way, marker in WAY_MARKERS.items()]
    handles += [Line2D([], [], color=INK, linewidth=2, label="median of a block"), CROSS]
    _legend(figure, "In order of execution: does anything drift?", handles)
    return figure


ALL: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "throughput": throughput,
    "effects": effects,
    "cpu_cost": cpu_cost,
    "timeline": timeline,
}

MEDIAN = Line2D([], [], color=INK, linestyle="", marker="|", markersize=9, markeredgewidth=2, label="median")
CROSS = Line2D([], [], color=INK, linestyle="", marker="x", markersize=5, label="void or failed, in no median")


@dataclass(frozen=True)
class _Strip:
    """The trials of one row of a panel at one combination of levels ``at``: centre and half height, and the values."""

    at: tuple[Any, ...]
    y: float
    half: float
    good: npt.NDArray[np.float64]
    bad: npt.NDArray[np.float64]

    @property
    def median(self) -> float:
        return float(np.median(self.good)) if len(self.good) else np.nan

    def dots(self, axes: Axes, colour: str, marker: str, limit: float) -> None:
        # The golden ratio spreads any number of marks evenly, and the same trial is always at the same place.
        spread = (np.arange(len(self.good)) * 0.618034 + 0.5) % 1 - 0.5
        axes.scatter(self.good, self.y + spread * self.half, s=17, color=colour, marker=marker, linewidths=0, zorder=3)
        _crosses(axes, np.minimum(self.bad, limit), np.full(len(self.bad), self.y), self.bad, limit)

    def tick(self, axes: Axes, x: float, colour: str, width: float) -> None:
        axes.vlines(x, self.y - 0.9 * self.half, self.y + 0.9 * self.half, color=colour, linewidth=width)


def _strips(
    frame: pd.DataFrame,
    value: str,
    rows: Sequence[str],
    factors: Sequence[str],
    combinations: Sequence[tuple[Any, ...]],
) -> Iterator[_Strip]:
    groups = dict(iter(frame.groupby(["row", *factors], sort=False)))
    half = 0.41 / len(combinations)
    for (place, row), (number, at) in itertools.product(enumerate(rows), enumerate(combinations)):
        if (group := groups.get((row, *at))) is not None:
            ok = group["status"] == "ok"
            centre = place - 0.41 + half * (2 * number + 1)
            yield _Strip(at, centre, half, group.loc[ok, value].to_numpy(), group.loc[~ok, value].to_numpy())


def _labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with a column ``row``: the name of the row of a panel that a trial belongs to."""
    row = frame["protocol"].str.upper() + " " + frame["tool"]
    return frame.assign(row=row + " " + frame["store"] if frame["store"].nunique() > 1 else row)


def _panels(
    trials: pd.DataFrame, shown: pd.DataFrame, strips: int, count: int, *, sharex: bool
) -> tuple[Figure, list[Axes], list[str]]:
    """A figure with ``count`` panels in twos that share one row for each protocol and tool."""
    rows = sorted(set(shown["row"]))
    columns, storeys = min(count, 2), -(-count // 2)
    figure = _figure(trials, 1.0 + storeys * (0.7 + len(rows) * max(0.34, 0.11 * strips + 0.06)))
    panels = list(figure.subplots(storeys, columns, sharex=sharex, sharey=True, squeeze=False).flat)
    for surplus in panels[count:]:
        surplus.remove()
    for axes in panels[:count]:
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks(range(len(rows)), map(drawable, rows), **as_is())
        for place in range(1, len(rows), 2):
            axes.axhspan(place - 0.5, place + 0.5, color="#f4f4f4", zorder=-1)
    return figure, panels[:count], rows


def _figure(trials: pd.DataFrame, height_in: float) -> Figure:
    """An empty figure that says below, in small print, where its numbers come from."""
    figure = Figure(figsize=(WIDTH_IN, height_in), dpi=DPI, layout="constrained")
    footer = "\n".join(textwrap.fill(part, 150, max_lines=4) for part in stats.provenance(trials) if part)
    figure.supxlabel(drawable(footer), x=0.01, ha="left", fontsize=7, color="#555555", **as_is())
    return figure


def _empty(trials: pd.DataFrame, title: str, why: str) -> Figure:
    figure = _figure(trials, 2.4)
    axes = figure.subplots()
    axes.set(xticks=[], yticks=[])
    _note(axes, why)
    _legend(figure, title, [])
    return figure


def _name(axes: Axes, title: str, xlabel: str, ylabel: str = "") -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(xlabel, fontsize=9)
    axes.set_ylabel(ylabel, fontsize=9)
    axes.tick_params(labelsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y" if ylabel else "x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _limit(frame: pd.DataFrame, *columns: str) -> float:
    """How far an axis reaches: a little beyond what counts. A void trial that hit a cache must not squeeze it."""
    ok, every = (some[list(columns)].max().max() for some in (frame[frame["status"] == "ok"], frame))
    return 1.09 * float(every if np.isnan(ok) else ok) or 1.0


def _crosses(axes: Axes, x: npt.ArrayLike, y: npt.ArrayLike, values: npt.ArrayLike, limit: float) -> None:
    """Void and failed trials; one beyond the end of the axis stands at the end, with its value beside it."""
    axes.scatter(x, y, s=20, color=INK, marker="x", linewidths=0.9, zorder=3, clip_on=False)
    for at_x, at_y, value in np.column_stack([x, y, values])[np.asarray(values) > limit]:
        axes.text(at_x, at_y, f"{value:.3g}   ", fontsize=6.5, color=INK, ha="right", va="center")


def _note(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=PALE, fontsize=10)


def _legend(figure: Figure, title: str, handles: Sequence[Line2D]) -> None:
    """The title and, below it, the legend: one block, because the layout would put a title on top of a legend."""
    bold = {"weight": "bold", "size": 12}
    columns = 4 if len(handles) <= 8 else 5
    legend = figure.legend(
        handles=handles, loc="outside upper left", ncols=columns, frameon=False, fontsize=8,
        title=title, title_fontproperties=bold, alignment="left",
    )  # fmt: skip
    for text in legend.get_texts():
        text.set(text=drawable(text.get_text()), **as_is())


def _mark(label: str, colour: str, marker: str, size: float = 5) -> Line2D:
    return Line2D([], [], color=colour, linestyle="", marker=marker, markersize=size, label=label)


def _styles(levels: Sequence[Any], styles: Sequence[str]) -> dict[Any, str]:
    return dict(zip(levels, itertools.cycle(styles), strict=False))


def _mark_blocks(panels: tuple[Axes, Axes], shown: pd.DataFrame, change: pd.Series[float]) -> None:
    """A line at the start of every block and its number, and the median change of the block in the lower panel."""
    speed, drift = panels
    blocks = [(block, part.index) for block, part in shown.groupby("block")]
    for number, (block, index) in enumerate(blocks):
        for axes in panels:
            axes.axvline(index[0] - 0.5, color=PALE, linewidth=0.6, zorder=0)
        if number % -(-len(blocks) // 12) == 0:
            speed.annotate(f" block {block}", (index[0] - 0.5, 1.01), xycoords=("data", "axes fraction"), fontsize=7)
        if len(here := change[change.index.isin(index)]):
            drift.hlines(here.median(), index[0], index[-1], color=INK, linewidth=2)
