"""The parts that all figures share: colours, frame, footer, legend, and a bounded number of marks."""

import itertools
import textwrap
from collections.abc import Iterable, Sequence
from typing import TypedDict, TypeVar

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike

from lab import stats
from lab.base.untrusted import one_line
from lab.report.figures.values import as_is, drawable
from lab.stats.intervals import Floats

LevelT = TypeVar("LevelT", bound=stats.Level)
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]  # in an array
# Okabe and Ito (2008), told apart by colour-blind eyes too; without their yellow, which is faint on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "<", ">")
INK, PALE = "#222222", "#8a8a8a"
WAYS: dict[stats.Level, str] = {
    "write": "write (client → server)", "read": "read (server → client)", stats.EVERY: "all cases",
}  # fmt: skip
WAY_MARKERS: dict[stats.Level, str] = {"write": ">", "read": "<", stats.EVERY: "o"}
WAY_COLOURS: dict[stats.Level, str] = {"write": "#009E73", "read": "#E69F00", stats.EVERY: PALE}
SPEED = "MB/s (10⁶ bytes/s)"
CSS_DPI = 96  # on a page, where an SVG of 8 inches is 768 pixels wide
WIDTH_IN, DPI = 8.0, 2 * CSS_DPI  # a PNG has twice as many pixels, for screens that show them
BESIDE_PT = 2.5  # between the end of a bar and its number
NAME_PAD_PT = 3.5  # between a row's name and the panel
LONGEST_NAME = 60  # characters of a row's name: a longer one would leave a panel no room
LONGEST_PART = 390  # characters of what is said of one run below a figure
MOST_MARKS = 4000  # in one panel: more of them are one blot
MOST_NAMED = 8  # levels of a factor in the legend: colours and markers repeat from there on
MOST_VECTORS = 1000  # more marks in a panel are pixels, in an SVG too
CROSS = Line2D([], [], color=INK, linestyle="", marker="x", markersize=5, label="void or failed, in no median")
MEDIAN = Line2D([], [], color=INK, linestyle="", marker="|", markersize=9, markeredgewidth=2, label="median")
LEAST_REACH = np.log(1.1)  # length of the axis on either side
LARGE_RATIO = np.log(20)  # a larger change is written as a power of ten
# The ticks that an axis of log ratios may have, those that people think in first
PERCENTS = "-10 10 -20 20 -50 50 100 300 -30 30 -40 -60 -70 -80 -90 150 200 500 900 1900 -1 1 -2 2 -5 5 75 -95"
TIMES = "0.5 2 0.25 4 0.1 10 1.5 0.7 0.8 1.2 0.9 1.1 3 0.3 0.6 0.4 5 0.2 1.3 0.95 1.05 0.05 20 0.98 1.02"
CLOSEST_TICKS = 0.075  # share of the axis between two of them


class Look(TypedDict, total=False):
    """How a row's name is written."""

    weight: str
    fontsize: float


BOLD, PLAIN = Look(weight="bold", fontsize=8.5), Look(fontsize=7.5)


def begin(trials: stats.Trials, height_in: float, notes: Sequence[str] = ()) -> Figure:
    """An empty figure that says below, in small print, where its numbers come from and what it leaves out."""
    return begin_over([*stats.provenance(trials), *dict.fromkeys(notes)], height_in)


def begin_compared(parts: Iterable[str], height_in: float) -> Figure:
    """An empty figure with a long part of small print for each run, and as much higher as that takes."""
    footer = [one_line(part, LONGEST_PART) for part in parts]
    return begin_over(footer, 1.3 + sum(0.13 * -(-len(part) // 130) for part in footer) + height_in)


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


def sample(count: int) -> tuple[Places, list[str]]:
    """The places of at most MOST_MARKS of ``count`` marks, always the same; and the note of the figure on that."""
    if count <= MOST_MARKS:
        return np.arange(count), []
    chosen = np.sort(np.random.default_rng(0).choice(count, MOST_MARKS, replace=False))
    note = f"marks drawn: {MOST_MARKS} of {count} in a panel, a random sample; medians and intervals are of all"
    return chosen, [note]


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


def name_rows(axes: Axes, rows: Sequence[str], looks: Sequence[Look] = ()) -> None:
    """Name the rows from the top down and shade every other one; ``looks`` has one of each name."""
    shade_rows(axes, len(rows))
    # the names are no ticks: a tick is five artists, which take longer to measure than all other parts of a panel
    beside = axes.get_yaxis_transform() + ScaledTranslation(-NAME_PAD_PT / 72, 0, axes.figure.dpi_scale_trans)
    for place, (row, look) in enumerate(zip(rows, looks or [Look(fontsize=8.5)] * len(rows), strict=True)):
        name = row if len(row) <= LONGEST_NAME else f"{row[:LONGEST_NAME]}…"
        axes.text(0, place, drawable(name), transform=beside, ha="right", va="center_baseline", **look, **as_is())


def shade_rows(axes: Axes, count: int) -> None:
    """Shade every other one of ``count`` rows without names, from the top down."""
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_yticks([])
    shaded = np.arange(1, count, 2)
    if len(shaded):
        shades = _rectangles(np.zeros(len(shaded)), np.ones(len(shaded)), shaded, 0.5)
        across = axes.get_yaxis_transform()
        axes.add_collection(PolyCollection(shades, color="#f4f4f4", zorder=-1, transform=across), autolim=False)


def _rectangles(left: Floats, right: Floats, y: ArrayLike, half: float) -> list[Floats]:
    below, above = np.asarray(y) - half, np.asarray(y) + half
    return list(np.array([[left, below], [right, below], [right, above], [left, above]]).transpose(2, 0, 1))


def limit_of(values: Floats, ok: Flags) -> float:
    """The end of an axis: a little beyond what counts. A void trial that hit a cache must not squeeze it."""
    finite = np.isfinite(values)
    counted = values[finite & ok] if (finite & ok).any() else values[finite]
    return 1.09 * float(counted.max(initial=0)) or 1.0


def add_marks(
    axes: Axes, x: ArrayLike, y: ArrayLike, look: tuple[str, str], *, count: int, size: float = 17, hollow: bool = False
) -> None:
    """Draw marks of one colour and marker; as pixels if the whole panel has a large ``count`` of them."""
    colour, marker = look
    face, width = ("none", 0.9) if hollow else (colour, 0)
    axes.scatter(
        x, y, s=size, facecolors=face, edgecolors=colour, marker=marker, linewidths=width, zorder=3,
        rasterized=count > MOST_VECTORS,
    )  # fmt: skip


def add_crosses(axes: Axes, x: ArrayLike, y: ArrayLike, values: ArrayLike, limit: float) -> None:
    """Draw void and failed trials; the first 40 beyond the axis have their value at its end."""
    axes.scatter(x, y, s=20, color=INK, marker="x", linewidths=0.9, zorder=3, clip_on=False)
    beyond = np.column_stack([x, y, values])[np.asarray(values) > limit]
    for at_x, at_y, value in beyond[:40]:
        axes.text(at_x, at_y, f"{value:.3g}   ", fontsize=6.5, color=INK, ha="right", va="center")


def note(axes: Axes, text: str) -> None:
    """Write words in the middle of a panel that has nothing else."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=PALE, fontsize=10)


def add_legend(figure: Figure, title: str, handles: Sequence[Line2D]) -> None:
    """Add the title and the legend below it as one block: the layout would put a title on top of a legend."""
    legend = figure.legend(
        handles=handles, loc="outside upper left", ncols=4 if len(handles) <= 8 else 5, frameon=False, fontsize=8,
        title=title, title_fontproperties={"weight": "bold", "size": 12}, alignment="left",
    )  # fmt: skip
    for text in legend.get_texts():
        text.set(text=drawable(text.get_text()), **as_is())


def mark(label: str, colour: str, marker: str, size: float = 5, *, hollow: bool = False) -> Line2D:
    """An entry of a legend."""
    face = "none" if hollow else colour
    return Line2D([], [], color=colour, linestyle="", marker=marker, markersize=size, markerfacecolor=face, label=label)


def direction_marks(directions: Iterable[stats.Level]) -> list[Line2D]:
    """The entries of a legend for those directions that occur, write first."""
    occurring = set(directions)
    return [mark(WAYS[way], WAY_COLOURS[way], WAY_MARKERS[way]) for way in ("write", "read") if way in occurring]


def styles(levels: Sequence[LevelT], kinds: Sequence[str]) -> dict[LevelT, str]:
    """A colour or marker for each level, from the first again when they run out."""
    return dict(zip(levels, itertools.cycle(kinds), strict=False))


def draw_bars(axes: Axes, y: Floats, lengths: Floats, half: float, colours: Sequence[str]) -> None:
    """Draw pale bars from 0, all in one artist: a hundred by themselves take longer than all the rest of a figure."""
    bars = _rectangles(np.zeros_like(y), lengths, y, half)
    axes.add_collection(PolyCollection(bars, facecolors=colours, alpha=0.22, linewidths=0))


def few(handles: list[Line2D]) -> list[Line2D]:
    """The first MOST_NAMED entries of a legend, and how many more there are."""
    more = len(handles) - MOST_NAMED
    return handles if more <= 0 else [*handles[:MOST_NAMED], mark(f"and {more} more", PALE, "")]


def limits_of_ratios(means: ArrayLike, ends: ArrayLike, widest: float) -> tuple[float, float]:
    """The ends of an axis of log ratios: over all means, and over intervals up to ``widest`` times the largest mean."""
    known, wide = (values[np.isfinite(values)] for values in (np.ravel(np.array(means)), np.ravel(np.array(ends))))
    largest = max(LEAST_REACH, float(np.abs(known).max(initial=0)))
    reached = [*(1.05 * known), *np.clip(wide, -widest * largest, widest * largest)]
    return min(-LEAST_REACH, *reached), max(LEAST_REACH, *reached)


def set_ratio_axis(axes: Axes, low: float, high: float, label: str, *, in_times: bool = False) -> None:
    """Set an axis of log ratios, a little longer than its limits; its ticks say percent, or how many times."""
    reach = high - low
    axes.set_xlim(low - 0.02 * reach, high + 0.02 * reach)
    ticks = _ratio_ticks(low, high, in_times)
    axes.set_xticks(list(ticks), list(ticks.values()))
    name_axes(axes, "", label)


def _ratio_ticks(low: float, high: float, in_times: bool) -> dict[float, str]:
    """The words of the ticks by place: the roundest that have room between them, or powers of ten."""
    middle = "×1" if in_times else "0"
    if max(-low, high) > LARGE_RATIO:
        step = max(1, round(max(-low, high) / np.log(10) / 3))
        powers = [power for power in range(-3 * step, 3 * step + 1, step) if low <= power * np.log(10) <= high]
        return {power * np.log(10): f"×1e{power}" if power else middle for power in powers}
    ticks = {0.0: middle}
    for number in map(float, (TIMES if in_times else PERCENTS).split()):
        place = float(np.log(number) if in_times else np.log1p(number / 100))
        if low <= place <= high and all(abs(place - other) > CLOSEST_TICKS * (high - low) for other in ticks):
            ticks[place] = f"×{number:g}" if in_times else f"{number:+.0f}"
    return ticks


def mark_means(axes: Axes, x: Floats, y: Floats, look: tuple[str, str, float], is_established: Flags) -> None:
    """Draw marks of one colour, marker and size: hollow where not established."""
    colour, marker, size = look
    for chosen, face in ((is_established, colour), (~is_established, "white")):
        axes.plot(
            x[chosen], y[chosen], linestyle="", marker=marker, color=colour, markersize=size, markerfacecolor=face,
            zorder=5,
        )  # fmt: skip
