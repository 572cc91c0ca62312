"""What all figures share: colours, the frame with its footer and legend, and marks that are bounded in number."""

import itertools
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from lab import stats
from lab.report.figures.values import as_is, drawable

# Okabe and Ito (2008), told apart by colour-blind eyes too; without their yellow, which is faint on white.
LevelT = TypeVar("LevelT", bound=stats.Level)
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "<", ">")
INK, PALE = "#222222", "#8a8a8a"
WAYS: dict[stats.Level, str] = {
    "write": "write (client → server)",
    "read": "read (server → client)",
    stats.EVERY: "all cases",
}
WAY_MARKERS: dict[stats.Level, str] = {"write": ">", "read": "<", stats.EVERY: "o"}
WAY_COLOURS: dict[stats.Level, str] = {"write": "#009E73", "read": "#E69F00", stats.EVERY: PALE}
SPEED = "MB/s (10⁶ bytes/s)"
CSS_DPI = 96  # of a page: an SVG of 8 inches is 768 pixels wide there
WIDTH_IN, DPI = 8.0, 2 * CSS_DPI  # a PNG has twice as many pixels, for screens that show them
BESIDE_PT = 2.5  # between the end of a bar and its number
NAME_PAD_PT = 3.5  # between a row's name and the panel
LONGEST_NAME = 60  # characters of a row's name: a longer one would leave a panel no room
MOST_MARKS = 4000  # in one panel: more of them are one blot
MOST_NAMED = 8  # levels of a factor in the legend: colours and markers repeat from there on
MOST_VECTORS = 1000  # more marks in a panel are pixels, in an SVG too
CROSS = Line2D([], [], color=INK, linestyle="", marker="x", markersize=5, label="void or failed, in no median")
MEDIAN = Line2D([], [], color=INK, linestyle="", marker="|", markersize=9, markeredgewidth=2, label="median")
LEAST_REACH = np.log(1.1)  # of the axis on either side
LARGE_RATIO = np.log(20)  # from which on a change is told as a factor, and no longer in percent
PERCENTS = (-95, -90, -80, -70, -60, -50, -40, -30, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200,
            300, 500, 900, 1900)  # fmt: skip  # that an axis may have as ticks
TIMES = (
    0.5,
    2,
    0.25,
    4,
    0.1,
    10,
    1.5,
    0.7,
    0.8,
    1.2,
    0.9,
    1.1,
    3,
    0.3,
    0.6,
    0.4,
    5,
    0.2,
    1.3,
    0.95,
    1.05,
    0.05,
    20,
    0.98,
    1.02,
)
CLOSEST_TICKS = 0.075  # share of the axis between two of them


def begin(trials: stats.Trials, height_in: float, notes: Sequence[str] = ()) -> Figure:
    """An empty figure that says below, in small print, where its numbers come from and what it leaves out."""
    return begin_over([*stats.provenance(trials), *dict.fromkeys(notes)], height_in)


def begin_over(parts: Sequence[str], height_in: float) -> Figure:
    """An empty figure with these lines of small print below it."""
    figure = Figure(figsize=(WIDTH_IN, height_in), dpi=DPI, layout="constrained")
    footer = "\n".join(textwrap.fill(part, 135, max_lines=4) for part in parts if part)
    figure.supxlabel(drawable(footer), x=0.01, ha="left", fontsize=7, color="#555555", **as_is())
    return figure


def empty(trials: stats.Trials, title: str, why: str) -> Figure:
    """A figure that says why there is nothing to draw."""
    figure = begin(trials, 2.4)
    axes = figure.subplots()
    axes.set(xticks=[], yticks=[])
    note(axes, why)
    add_legend(figure, title, [])
    return figure


def sample(count: int, most: int = MOST_MARKS) -> tuple[npt.NDArray[np.intp], list[str]]:
    """Which of ``count`` marks are drawn, always the same ones, in order; and what the figure has to say about it."""
    if count <= most:
        return np.arange(count), []
    chosen = np.sort(np.random.default_rng(0).choice(count, most, replace=False))
    return chosen, [f"marks drawn: {most} of {count} in a panel, a random sample; medians and intervals are of all"]


def name_axes(axes: Axes, title: str, xlabel: str, ylabel: str = "") -> None:
    """Titles, labels and a quiet grid across the direction of the values."""
    axes.set_title(drawable(title), fontsize=10, y=1.0, **as_is())  # else all labels are measured to place it
    axes.set_xlabel(drawable(xlabel), fontsize=9, **as_is())
    axes.set_ylabel(ylabel, fontsize=9)
    axes.tick_params(labelsize=8.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y" if ylabel else "x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def name_rows(axes: Axes, rows: Sequence[str], looks: Sequence[Mapping[str, Any]] = ()) -> None:
    """Rows of names from the top down, every other one shaded; ``looks`` are properties of each name's text.

    The names are texts by themselves: a tick is five artists, and making and measuring these takes longer than all
    other parts of a panel.
    """
    shade_rows(axes, len(rows))
    beside = axes.get_yaxis_transform() + ScaledTranslation(-NAME_PAD_PT / 72, 0, axes.figure.dpi_scale_trans)
    looks = looks or [{"fontsize": 8.5}] * len(rows)
    for place, (row, look) in enumerate(zip(rows, looks, strict=True)):
        name = row if len(row) <= LONGEST_NAME else f"{row[:LONGEST_NAME]}…"
        axes.text(0, place, drawable(name), transform=beside, ha="right", va="center_baseline", **look, **as_is())


def shade_rows(axes: Axes, count: int) -> None:
    """As many rows from the top down, without names, every other one shaded."""
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_yticks([])
    shaded = np.arange(1, count, 2)
    if len(shaded):
        below, above = shaded - 0.5, shaded + 0.5
        corners = np.array([[0 * below, below], [1 + 0 * below, below], [1 + 0 * above, above], [0 * above, above]])
        across = axes.get_yaxis_transform()
        axes.add_collection(
            PolyCollection(list(corners.transpose(2, 0, 1)), color="#f4f4f4", zorder=-1, transform=across),
            autolim=False,
        )


def limit_of(values: npt.NDArray[np.float64], ok: npt.NDArray[np.bool_]) -> float:
    """How far an axis reaches: a little beyond what counts. A void trial that hit a cache must not squeeze it."""
    finite = np.isfinite(values)
    counted = values[finite & ok] if (finite & ok).any() else values[finite]
    return 1.09 * float(counted.max(initial=0)) or 1.0


def add_marks(
    axes: Axes,
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    colour: str,
    marker: str,
    *,
    count: int,
    size: float = 17,
    hollow: bool = False,
) -> None:
    """Marks of one style, of ``count`` in the whole panel: pixels, where those are many."""
    face, width = ("none", 0.9) if hollow else (colour, 0)
    axes.scatter(
        x, y, s=size, facecolors=face, edgecolors=colour, marker=marker, linewidths=width, zorder=3,
        rasterized=count > MOST_VECTORS,
    )  # fmt: skip


def add_crosses(axes: Axes, x: npt.ArrayLike, y: npt.ArrayLike, values: npt.ArrayLike, limit: float) -> None:
    """Void and failed trials; the first of those beyond the end of the axis stand there with their value."""
    axes.scatter(x, y, s=20, color=INK, marker="x", linewidths=0.9, zorder=3, clip_on=False)
    beyond = np.column_stack([x, y, values])[np.asarray(values) > limit]
    for at_x, at_y, value in beyond[:40]:
        axes.text(at_x, at_y, f"{value:.3g}   ", fontsize=6.5, color=INK, ha="right", va="center")


def note(axes: Axes, text: str) -> None:
    """Words in the middle of a panel that has nothing else."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=PALE, fontsize=10)


def add_legend(figure: Figure, title: str, handles: Sequence[Line2D]) -> None:
    """The title and, below it, the legend: one block, because the layout would put a title on top of a legend."""
    bold = {"weight": "bold", "size": 12}
    columns = 4 if len(handles) <= 8 else 5
    legend = figure.legend(
        handles=handles, loc="outside upper left", ncols=columns, frameon=False, fontsize=8,
        title=title, title_fontproperties=bold, alignment="left",
    )  # fmt: skip
    for text in legend.get_texts():
        text.set(text=drawable(text.get_text()), **as_is())


def mark(label: str, colour: str, marker: str, size: float = 5, *, hollow: bool = False) -> Line2D:
    """An entry of a legend."""
    face = "none" if hollow else colour
    return Line2D([], [], color=colour, linestyle="", marker=marker, markersize=size, markerfacecolor=face, label=label)


def styles(levels: Sequence[LevelT], kinds: Sequence[str]) -> dict[LevelT, str]:
    """A colour or marker for each level, from the first again when they run out."""
    return dict(zip(levels, itertools.cycle(kinds), strict=False))


def draw_bars(
    axes: Axes, y: npt.NDArray[np.float64], lengths: npt.NDArray[np.float64], half: float, colours: Sequence[str]
) -> None:
    """Pale bars from 0, all in one artist: a hundred by themselves take longer than all the rest of a figure."""
    corners = np.array(
        [[np.zeros_like(y), y - half], [lengths, y - half], [lengths, y + half], [np.zeros_like(y), y + half]]
    )
    axes.add_collection(PolyCollection(list(corners.transpose(2, 0, 1)), facecolors=colours, alpha=0.22, linewidths=0))


def few(handles: list[Line2D]) -> list[Line2D]:
    """The first MOST_NAMED entries of a legend, and how many more there are."""
    more = len(handles) - MOST_NAMED
    return handles if more <= 0 else [*handles[:MOST_NAMED], mark(f"and {more} more", PALE, "")]


def limits_of_ratios(means: npt.ArrayLike, ends: npt.ArrayLike, widest: float) -> tuple[float, float]:
    """The ends of an axis of log ratios: over all means, and over intervals up to ``widest`` times the largest mean."""
    known, wide = (values[np.isfinite(values)] for values in (np.ravel(np.array(means)), np.ravel(np.array(ends))))
    largest = max(LEAST_REACH, float(np.abs(known).max(initial=0)))
    reached = [*(1.05 * known), *np.clip(wide, -widest * largest, widest * largest)]
    return min(-LEAST_REACH, *reached), max(LEAST_REACH, *reached)


def set_axis(axes: Axes, low: float, high: float, ticks: Mapping[float, str], label: str) -> None:
    """An axis of log ratios, a little longer than its limits."""
    reach = high - low
    axes.set_xlim(low - 0.02 * reach, high + 0.02 * reach)
    axes.set_xticks(list(ticks), list(ticks.values()))
    name_axes(axes, "", label)


def mark_means(
    axes: Axes,
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    look: tuple[str, str, float],
    is_established: npt.NDArray[np.bool_],
) -> None:
    """Marks of one colour, marker and size: hollow where not established."""
    colour, marker, size = look
    for chosen, face in ((is_established, colour), (~is_established, "white")):
        axes.plot(
            x[chosen], y[chosen], linestyle="", marker=marker, color=colour, markersize=size, markerfacecolor=face,
            zorder=5,
        )  # fmt: skip


def percent_ticks(low: float, high: float) -> dict[float, str]:
    """Where an axis of log ratios has ticks, and what they say: percent, or factors where these are large."""
    if max(-low, high) > LARGE_RATIO:
        return _powers(low, high, "0")
    candidates = sorted(PERCENTS, key=_roundness)
    return _spread(low, high, "0", ((float(np.log1p(percent / 100)), f"{percent:+d}") for percent in candidates))


def times_ticks(low: float, high: float) -> dict[float, str]:
    """The same, each tick saying how many times as much it is."""
    if max(-low, high) > LARGE_RATIO:
        return _powers(low, high, "×1")
    return _spread(low, high, "×1", ((float(np.log(times)), f"×{times:g}") for times in TIMES))


def _spread(low: float, high: float, middle: str, candidates: Iterable[tuple[float, str]]) -> dict[float, str]:
    """The candidates, roundest first, that lie on the axis with room between them."""
    ticks = {0.0: middle}
    for place, text in candidates:
        if low <= place <= high and all(abs(place - other) > CLOSEST_TICKS * (high - low) for other in ticks):
            ticks[place] = text
    return ticks


def _powers(low: float, high: float, middle: str) -> dict[float, str]:
    step = max(1, round(max(-low, high) / np.log(10) / 3))
    powers = [power for power in range(-3 * step, 3 * step + 1, step) if low <= power * np.log(10) <= high]
    return {power * np.log(10): f"×1e{power}" if power else middle for power in powers}


def _roundness(percent: int) -> tuple[bool, bool, int]:
    """Which ticks an axis has first: those that people think in."""
    return percent not in (-50, 100, 10, -10, 50, 20, -20, 300, -75), percent % 10 != 0, abs(percent)
