"""The run as it went on: speeds in order of execution, anchors, and how far each trial lies from its own case."""

import itertools

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab import stats
from lab.design.factors import LOCAL
from lab.report.analysis import Run, analyse
from lab.report.figures import style
from lab.report.figures.values import tell
from lab.results.run_keys import load_by_block
from lab.results.trial import DD, DISK, STORE_PROTOCOL
from lab.stats.intervals import Floats

MOST_BLOCKS = 60  # with a line each
COLUMNS = ["protocol", "direction", "anchor", "status", "MB_per_s"]
ANCHOR = style.mark("anchor", style.INK, "o", 7, hollow=True)
LINK_MARKER = "*"
BY_ITSELF = {"link": "link (iperf3)", "store": "the server's store", LOCAL: "the server's store"}
PER_BLOCK = Line2D([], [], color=style.INK, linewidth=2, label="median of a block")
ORDER = "trial, in order of execution"
LOAD = {
    role: Line2D([], [], color=colour, linewidth=2, label=f"load of others: {role}")
    for role, colour in zip(("client", "server"), style.PALETTE, strict=False)
}
LOAD["server"].set_linestyle((0, (2, 1)))


def timeline(run: Run) -> Figure:
    """Speed in order of execution, and how far each trial lies from its own case over the run: drift shows there."""
    trials = analyse(run).trials
    rows = _in_order(trials)
    if not len(rows):
        return style.empty(trials, "Timeline", "no trial could be measured")
    chosen, notes = style.sample(len(rows))
    load = load_by_block(trials.frame.attrs.get("run", {}))
    figure = style.begin(trials, 7.6 if load else 6.2, notes)
    speed, drift, *below = figure.subplots(2 + bool(load), 1, sharex=True, height_ratios=(3, 2, 1)[: 2 + bool(load)])
    protocols = [str(name) for name in trials.levels("protocol", rows)[1]]
    measured = [name for name in protocols if name != "link"]
    colours, shapes = style.styles(measured, style.PALETTE), style.styles(measured, style.MARKERS)
    looks = {name: (colours[name], shapes[name]) for name in measured}  # the shape tells them apart in grey print
    looks |= {"link": (style.INK, LINK_MARKER)} if "link" in protocols else {}
    change = np.asarray(stats.from_own_case(trials), dtype=np.float64)[rows]
    shown = trials.frame[COLUMNS].iloc[rows[chosen]].set_axis(chosen)
    _mark_trials((speed, drift), shown.assign(change=change[chosen]), looks)
    values, ok = trials.values("MB_per_s")[rows], trials.ok[rows]
    limit = style.limit_of(values, ok)
    lost = np.flatnonzero(~ok)[style.sample(int((~ok).sum()))[0]]
    style.add_crosses(speed, lost, values[lost].clip(max=limit), values[lost], limit)
    _mark_blocks((speed, drift), trials.values("block")[rows], change)
    style.name_axes(speed, "", "", style.SPEED)
    speed.set_ylim(0, 1.03 * limit)
    drift.margins(x=0.01)
    drift.axhline(0, color=style.INK, linewidth=0.8)
    style.name_axes(drift, "", "" if load else ORDER, "from the same case\nover the run, %")
    for axes in below:
        _draw_load(axes, load, trials.values("block")[rows])
    if np.isnan(change).all():
        style.note(drift, "no case was measured twice")
    handles = [style.mark(BY_ITSELF.get(name, name.upper()), *look) for name, look in looks.items()]
    handles += [style.mark(way, style.INK, style.MARKERS[0], hollow=way == "read") for way in ("write", "read")]
    anchored = [ANCHOR] if trials.values("anchor")[rows].any() else []
    handles += [*anchored, PER_BLOCK, style.CROSS, *(LOAD.values() if load else [])]
    style.add_legend(figure, "In order of execution: does anything drift?", handles)
    return figure


def _in_order(trials: stats.Encoded) -> style.Places:
    """The rows that have a speed, in order of execution; of the store by itself only dd to and from its disk."""
    is_other = trials.has("protocol", STORE_PROTOCOL) & ~trials.has("tool", DD, DISK)
    rows = np.flatnonzero(~np.isnan(trials.values("MB_per_s")) & ~is_other)
    return rows[np.argsort(trials.frame["started_at"].astype("int64").to_numpy()[rows], kind="stable")]


def _mark_trials(panels: tuple[Axes, Axes], shown: pd.DataFrame, looks: dict[str, tuple[str, str]]) -> None:
    good = shown[(shown["status"] == "ok").to_numpy()]
    both = (good["MB_per_s"], good["change"].dropna())
    for name, direction in itertools.product(looks, ("write", "read")):
        alike = ((good["protocol"] == name) & (good["direction"] == direction)).to_numpy()
        for axes, values in zip(panels, both, strict=True):
            part = values[values.index.isin(good.index[alike])]
            style.add_marks(axes, part.index, part, looks[name], count=len(good), size=20, hollow=direction == "read")
    anchors = good.index[good["anchor"].to_numpy(dtype=bool)]
    for axes, values in zip(panels, both, strict=True):
        ringed = values[values.index.isin(anchors)]
        axes.plot(
            ringed.index, ringed, linestyle="", marker="o", markersize=8, markerfacecolor="none",
            markeredgecolor=style.INK, markeredgewidth=0.8, zorder=4, rasterized=len(ringed) > style.MOST_VECTORS,
        )  # fmt: skip


def _mark_blocks(panels: tuple[Axes, Axes], block: npt.NDArray[np.int64], change: Floats) -> None:
    """Draw the median change of each block, or of neighbours of very many; few also have a line and a number."""
    speed, drift = panels
    begins = np.flatnonzero(~pd.Series(block).duplicated())
    begins = begins[:: -(-len(begins) // style.MOST_VECTORS)]
    changes = [np.sort(part[~np.isnan(part)]) for part in np.split(change, begins[1:])]
    at = np.array([number for number, part in enumerate(changes) if len(part)], dtype=np.intp)
    medians = np.array([stats.median(changes[number]) for number in at])
    ends = np.append(begins[1:], len(block))
    words = [
        f"block {block[begins[number]]}: {median:+.1f} % from the same case over the run (n = {len(changes[number])})"
        for number, median in zip(at, medians, strict=True)
    ]
    middles = (begins[at] + ends[at]) / 2
    tell(drift, middles, medians, words)
    if len(at) > MOST_BLOCKS:
        drift.plot(middles, medians, color=style.INK, linewidth=1.2, zorder=5)
    else:
        drift.hlines(medians, begins[at], ends[at] - 1, color=style.INK, linewidth=2, zorder=5)
    if len(begins) <= MOST_BLOCKS:
        for begin_at, axes in itertools.product(begins, panels):
            axes.axvline(begin_at - 0.5, color=style.PALE, linewidth=0.6, zorder=0)
    for begin_at in begins[:: -(-len(begins) // 12)]:
        above = ("data", "axes fraction")
        speed.annotate(f" block {block[begin_at]}", (begin_at - 0.5, 1.01), xycoords=above, fontsize=7)


def _draw_load(axes: Axes, load: dict[int, dict[str, float]], block: npt.NDArray[np.int64]) -> None:
    begins = np.flatnonzero(~pd.Series(block).duplicated())
    ends = np.append(begins[1:], len(block)) - 1
    for role, look in LOAD.items():
        cores = np.array([load.get(int(block[begin]), {}).get(role, np.nan) for begin in begins])
        axes.hlines(cores, begins - 0.4, ends + 0.4, color=look.get_color(), linestyle=look.get_linestyle(), lw=2)
    highest = max((cores for block_load in load.values() for cores in block_load.values()), default=0.0)
    axes.set_ylim(0, 1.15 * max(1.0, highest))
    style.name_axes(axes, "", ORDER, "cores used\nby others")
