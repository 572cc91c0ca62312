"""From the disk to the tool: a bar for what each stage carries by itself, one panel a direction."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab import stats
from lab.report.analysis import Run, analyse
from lab.report.bottlenecks import BY_ITSELF, NAMES, narrowest
from lab.report.figures import style
from lab.report.figures.values import tell
from lab.stats.stages import DISK, LINK, SERVER, STORE, TOOL, UNFLUSHED, fastest_cases

TITLE = "From the disk to the tool"
BEYOND = 2.5  # times the fastest tool, and the narrowest stage: what is longer leaves the panel
MOST_TOOLS = 30  # in a figure; more would be a page high
WHAT = {DISK: "what its devices moved", STORE: "dd on the server", SERVER: "dd in its memory", LINK: "iperf3"}
FAINT = 0.4  # opacity of the speed that a tool would reach without its flush
OWN, LEAST, FASTEST, OTHER = style.PALETTE[0], style.PALETTE[1], style.PALETTE[2], style.PALE
LOOKS = {
    "by itself": OWN, "the narrowest by itself": LEAST, "fastest tool of a protocol": FASTEST, "another tool": OTHER,
}  # fmt: skip


class _Bar(NamedTuple):
    """A bar: its length in MB/s, its colour, and its length without the flush, 0 where that is not known."""

    length: float
    colour: str
    before_flush: float = 0.0

    def __str__(self) -> str:
        before = f", {self.before_flush:,.1f} before its flush" if self.before_flush > self.length else ""
        return f"{self.length:,.1f} MB/s{before}"


def stages(run: Run) -> Figure:
    """The speed of disk, store, server and link by themselves, and of the fastest case of each protocol and tool."""
    run = analyse(run)
    cases = run.waterfall
    if cases.empty:
        return style.empty(run.trials, TITLE, "no transfer could be measured")
    best = fastest_cases(cases)
    tools = list(best[["protocol", "tool"]].drop_duplicates().itertuples(index=False, name=None))
    notes = [f"tools drawn: the first {MOST_TOOLS} of {len(tools)}"] if len(tools) > MOST_TOOLS else []
    tools = tools[:MOST_TOOLS]
    measured = [stage for stage in BY_ITSELF if best[stage].notna().any()]
    names = [f"{NAMES[stage]}: {WHAT[stage]}" for stage in measured]
    names += [stats.row_label({"protocol": protocol, "tool": tool}) for protocol, tool in tools]
    directions = [way for way in ("write", "read") if (best["direction"] == way).any()]
    figure = style.begin(run.trials, 1.7 + 0.26 * len(names), notes)
    panels = figure.subplots(1, len(directions), squeeze=False)[0]
    colours: set[str] = set()
    for number, (axes, direction) in enumerate(zip(panels, directions, strict=True)):
        if number == 0:
            style.name_rows(axes, names)
        else:
            style.shade_rows(axes, len(names))
        bars = _bars(best[best["direction"] == direction], measured, tools)
        colours |= {bar.colour for bar in bars.values()}
        _draw(axes, bars, len(measured))
        words = [f"{names[place]}, {direction}: {bar}" for place, bar in bars.items()]
        tell(axes, [bar.length for bar in bars.values()], list(bars), words)
        style.name_axes(axes, style.WAYS[direction], style.SPEED)
    entries = [style.mark(label, colour, "s", 7) for label, colour in LOOKS.items() if colour in colours]
    if (best[UNFLUSHED] > best[TOOL]).any():
        flush = style.mark("without the flush that follows it", style.PALE, "s", 7)
        flush.set_alpha(FAINT)
        entries.append(flush)
    style.add_legend(figure, TITLE, entries)
    return figure


def _bars(cases: pd.DataFrame, stages: list[str], tools: list[tuple[str, str]]) -> dict[int, _Bar]:
    """The bars of a direction by row, where anything was measured. The widest of several links is shown."""
    widest = {stage: float(cases[stage].max()) for stage in stages}
    least = narrowest({stage: widest.get(stage, np.nan) for stage in BY_ITSELF})
    bars = {
        row: _Bar(widest[stage], LEAST if stage == least else OWN)
        for row, stage in enumerate(stages)
        if not np.isnan(widest[stage])
    }
    fastest = cases.groupby("protocol", observed=True)[TOOL].max()
    for case in stats.rows_of(cases):
        if (tool := (case["protocol"], case["tool"])) in tools:
            colour = FASTEST if case[TOOL] == fastest[case["protocol"]] else OTHER
            bars[len(stages) + tools.index(tool)] = _Bar(case[TOOL], colour, float(np.nan_to_num(case[UNFLUSHED])))
    return dict(sorted(bars.items()))


def _draw(axes: Axes, bars: dict[int, _Bar], stages: int) -> None:
    """Draw the bars, each with its number. Memory, many times as fast as all else, leaves the panel."""
    if not bars:
        style.note(axes, "not measured")
        return
    narrow = min((bar.length for place, bar in bars.items() if place < stages), default=0.0)
    near = BEYOND * max([narrow, *(bar.length for place, bar in bars.items() if place >= stages)])
    ends = [max(bar.length, min(bar.before_flush, near)) for bar in bars.values() if bar.length <= near]
    limit = 1.2 * max(ends) or 1.0
    lengths, colours = [min(bar.length, limit) for bar in bars.values()], [bar.colour for bar in bars.values()]
    axes.barh(list(bars), lengths, height=0.66, color=colours, zorder=2)
    for place, bar in bars.items():
        if bar.before_flush > bar.length:
            axes.barh(place, min(bar.before_flush, limit), height=0.66, color=style.PALE, alpha=FAINT, zorder=1)
        text, at = (f"{bar.length:,.0f} →", limit) if bar.length > limit else (f"{bar.length:,.1f}", bar.length)
        side, beside, colour = "left", style.BESIDE_PT, style.INK
        if bar.length > 0.8 * limit:
            side, beside, colour = "right", -style.BESIDE_PT, "white"
        axes.annotate(
            text, (at, place), (beside, 0), textcoords="offset points", ha=side, va="center_baseline", fontsize=7.5,
            zorder=3, color=colour,
        )  # fmt: skip
    axes.axhline(stages - 0.5, color=style.PALE, linewidth=0.8)
    axes.set_xlim(0, limit)
