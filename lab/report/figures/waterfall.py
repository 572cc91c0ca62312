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
MOST_TOOLS = 30  # of a figure: more would be a page high
WHAT = {DISK: "what its devices moved", STORE: "dd on the server", SERVER: "dd in its memory", LINK: "iperf3"}
FAINT = 0.4  # of what a tool would reach without its flush
OWN, LEAST, FASTEST, OTHER = style.PALETTE[0], style.PALETTE[1], style.PALETTE[2], style.PALE
LOOKS = {
    "by itself": OWN, "the narrowest by itself": LEAST, "fastest tool of a protocol": FASTEST, "another tool": OTHER,
}  # fmt: skip


class _Bar(NamedTuple):
    """A bar: its length in MB/s, its colour, and its length without the flush, 0 where that is not known."""

    length: float
    colour: str
    before_flush: float = 0.0


def waterfall(run: Run) -> Figure:
    """What disk, store, server and link carry by themselves, and what each protocol and tool makes of it.

    Of each protocol and tool it is the fastest case.
    """
    run = analyse(run)
    cases = run.waterfall
    if cases.empty:
        return style.empty(run.trials, TITLE, "no transfer could be measured")
    best = fastest_cases(cases)
    tools = list(best[["protocol", "tool"]].drop_duplicates().itertuples(index=False, name=None))
    notes = [f"tools drawn: the first {MOST_TOOLS} of {len(tools)}"] if len(tools) > MOST_TOOLS else []
    tools = tools[:MOST_TOOLS]
    stages = [stage for stage in BY_ITSELF if best[stage].notna().any()]
    names = [f"{NAMES[stage]}: {WHAT[stage]}" for stage in stages]
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
        bars = _bars(best[best["direction"] == direction], stages, tools)
        colours |= {bar.colour for bar in bars if bar}
        _draw(axes, bars, len(stages))
        _tell(axes, bars, names, direction)
        style.name_axes(axes, style.WAYS[direction], style.SPEED)
    entries = [style.mark(label, colour, "s", 7) for label, colour in LOOKS.items() if colour in colours]
    if (best[UNFLUSHED] > best[TOOL]).any():
        flush = style.mark("without the flush that follows it", style.PALE, "s", 7)
        flush.set_alpha(FAINT)
        entries.append(flush)
    style.add_legend(figure, TITLE, entries)
    return figure


def _tell(axes: Axes, bars: list[_Bar | None], names: list[str], direction: str) -> None:
    """The words of each bar; a bar that leaves the panel has them at its edge."""
    drawn = [(place, bar) for place, bar in enumerate(bars) if bar]
    words = [f"{names[place]}, {direction}: {bar.length:,.1f} MB/s{_without_flush(bar)}" for place, bar in drawn]
    tell(axes, [bar.length for _, bar in drawn], [place for place, _ in drawn], words)


def _without_flush(bar: _Bar) -> str:
    return f", {bar.before_flush:,.1f} before its flush" if bar.before_flush > bar.length else ""


def _bars(cases: pd.DataFrame, stages: list[str], tools: list[tuple[str, str]]) -> list[_Bar | None]:
    """A bar for each row of a direction; None if nothing was measured. The widest of several links is shown."""
    widest = {stage: float(cases[stage].max()) for stage in stages}
    least = narrowest({stage: widest.get(stage, np.nan) for stage in BY_ITSELF})
    bars: list[_Bar | None] = [
        None if np.isnan(widest[stage]) else _Bar(widest[stage], LEAST if stage == least else OWN) for stage in stages
    ]
    speeds, before = (
        dict(zip(zip(cases["protocol"], cases["tool"], strict=True), cases[stage], strict=True))
        for stage in (TOOL, UNFLUSHED)
    )
    fastest = cases.groupby("protocol", observed=True)[TOOL].max().to_dict()
    for protocol, tool in tools:
        speed = speeds.get((protocol, tool))
        is_fastest = speed is not None and speed == fastest[protocol]
        unflushed = np.nan_to_num(before.get((protocol, tool), 0.0))
        bars.append(None if speed is None else _Bar(speed, FASTEST if is_fastest else OTHER, float(unflushed)))
    return bars


def _draw(axes: Axes, bars: list[_Bar | None], stages: int) -> None:
    """The bars, each with its number; memory, many times as fast as all else, leaves the panel."""
    drawn = [(place, bar) for place, bar in enumerate(bars) if bar]
    if not drawn:
        style.note(axes, "not measured")
        return
    narrow = min((bar.length for place, bar in drawn if place < stages), default=0.0)
    near = BEYOND * max([narrow, *(bar.length for place, bar in drawn if place >= stages)])
    limit = 1.2 * max(max(bar.length, min(bar.before_flush, near)) for _, bar in drawn if bar.length <= near) or 1.0
    places, colours = [place for place, _ in drawn], [bar.colour for _, bar in drawn]
    axes.barh(places, [min(bar.length, limit) for _, bar in drawn], height=0.66, color=colours, zorder=2)
    for place, bar in drawn:
        if bar.before_flush > bar.length:
            axes.barh(place, min(bar.before_flush, limit), height=0.66, color=style.PALE, alpha=FAINT, zorder=1)
        is_beyond = bar.length > 0.8 * limit
        text, at = (f"{bar.length:,.0f} →", limit) if bar.length > limit else (f"{bar.length:,.1f}", bar.length)
        side, beside, colour = (
            ("right", -style.BESIDE_PT, "white") if is_beyond else ("left", style.BESIDE_PT, style.INK)
        )
        axes.annotate(
            text, (at, place), (beside, 0), textcoords="offset points", ha=side, va="center_baseline", fontsize=7.5,
            zorder=3, color=colour,
        )  # fmt: skip
    axes.axhline(stages - 0.5, color=style.PALE, linewidth=0.8)
    axes.set_xlim(0, limit)
