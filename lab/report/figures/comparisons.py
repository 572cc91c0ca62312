"""What a level changes, and how two factors act on each other: all comparisons on one axis of ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab import stats
from lab.report.analysis import Run, analyse
from lab.report.figures import style
from lab.report.figures.values import tell
from lab.stats.intervals import Floats

MOST_ROWS = 50  # of a figure: more would be a page high
SOME_ROWS = 25  # drawn where there are more: a sample either way, and twice as many take twice as long
WIDEST = 2.0  # times the largest mean ratio that is drawn: an interval that is wider leaves the panel
BLOCK = style.mark("one block", style.PALE, "o", 3)
MODERATED = Line2D([], [], color=style.PALE, linewidth=4, label="moderated 95 % interval")
PLAIN = Line2D([], [], color=style.INK, linewidth=0.9, label="plain one (Student's t)")
OVERALL_NAME, NAME = {"weight": "bold", "fontsize": 8.5}, {"fontsize": 7.5}
OVERALL = style.mark("overall", style.INK, "D", 6)
HOLLOW = Line2D(
    [], [], color=style.INK, linestyle="", marker="D", markersize=6, markerfacecolor="white", label="not established"
)


@dataclass(frozen=True)
class _Forest:
    """Rows of a table of comparisons as log ratios: mean, both intervals (rows × 2), and every block (rows × blocks).

    ``table`` has their other columns; ``is_overall`` says which rows are over all cases.
    """

    table: pd.DataFrame
    mean: Floats
    plain: Floats
    moderated: Floats
    blocks: Floats
    is_overall: npt.NDArray[np.bool_]

    def take(self, rows: npt.ArrayLike) -> _Forest:
        """Some of the rows, in this order."""
        at = np.array(rows, dtype=np.intp)
        return _Forest(
            self.table.iloc[at], self.mean[at], self.plain[at], self.moderated[at], self.blocks[at], self.is_overall[at]
        )  # fmt: skip


def effects(run: Run) -> Figure:
    """What each level changes against its baseline: the overall row of each, below it one a protocol and tool."""
    run, title = analyse(run), "What a setting changes"
    forest = _forest(run.effects, np.array([row.log_ratios[0] for _, row in run.block_effects]), "")
    if forest is None:
        return style.empty(
            run.trials, title, "no two levels of a factor were measured in one block: nothing to compare"
        )
    return _draw(run.trials, title, forest, "change of throughput, % (axis of ratios)")


def interactions(run: Run) -> Figure:
    """How far two settings together are from the product of what each changes alone."""
    run = analyse(run)
    title = "Do settings act on each other? Two together, over what each gives alone"
    blocks = np.array([row.log_ratios[-1] for _, row in run.block_interactions])
    forest = _forest(run.interactions, blocks, "interaction_")
    if forest is None:
        return style.empty(run.trials, title, "fewer than two settings were varied beside protocol, tool and direction")
    return _draw(run.trials, title, forest, "interaction, % (axis of ratios)")


def _forest(table: pd.DataFrame, blocks: Floats, prefix: str) -> _Forest | None:
    """The rows that any block has a value of; the comparison with the largest overall ratio first. None of none."""
    if not (table["n_blocks"] > 0).any():
        return None
    comparison, is_overall = stats.comparisons(table)
    ends = [
        np.log1p(table[[f"{prefix}{kind}{end}_pct" for end in ("low", "high")]].to_numpy() / 100)
        for kind in ("", "moderated_")
    ]
    mean = np.log1p(table[f"{prefix}pct" if prefix else "change_pct"].to_numpy() / 100)
    height = pd.Series(np.where(is_overall, np.abs(mean), np.nan)).groupby(comparison).transform("max")
    order = np.lexsort((-mean, ~is_overall, comparison, -np.nan_to_num(height.to_numpy())))
    measured = order[(table["n_blocks"].to_numpy() > 0)[order]]
    return _Forest(table, mean, ends[0], ends[1], blocks, is_overall).take(measured)


def _draw(trials: stats.Encoded, title: str, forest: _Forest, xlabel: str) -> Figure:
    notes, count = [], len(forest.mean)
    if count > MOST_ROWS:
        notes = [f"rows drawn: {SOME_ROWS} of {count}, overall rows first; the table has them all"]
        forest = forest.take(sorted(np.argsort(~forest.is_overall, kind="stable")[:SOME_ROWS]))
    marked, more = style.sample(forest.blocks.size)
    figure = style.begin(trials, 1.5 + 0.19 * len(forest.mean), [*notes, *more])
    axes = figure.subplots()
    axes.axvline(0, color=style.INK, linewidth=0.8)
    rows = stats.rows_of(forest.table)
    of_rows = list(zip(rows, forest.is_overall, strict=True))
    names = [stats.compared_label(row) if top else stats.row_label(row) for row, top in of_rows]
    style.name_rows(axes, names, [OVERALL_NAME if top else NAME for top in forest.is_overall])
    low, high = style.limits_of_ratios(forest.mean, forest.moderated, WIDEST)
    _mark_blocks(axes, forest, marked, (low, high))
    _mark_rows(axes, forest, [str(row["direction"]) for row in rows], high - low)
    _tell(axes, forest, rows, names)
    style.set_axis(axes, low, high, style.percent_ticks(low, high), xlabel)
    ways = [way for way in ("write", "read") if (forest.table["direction"] == way).any()]
    handles = [style.mark(style.WAYS[way], style.WAY_COLOURS[way], style.WAY_MARKERS[way]) for way in ways]
    style.add_legend(figure, title, [OVERALL, *handles, HOLLOW, MODERATED, PLAIN, BLOCK])
    return figure


def _tell(axes: Axes, forest: _Forest, rows: Sequence[stats.Row], names: Sequence[str]) -> None:
    """The words of each mean: what is compared and where, the change, its interval, and what it rests on."""
    words = []
    for at, (row, name) in enumerate(zip(rows, names, strict=True)):
        first = name if forest.is_overall[at] else f"{stats.compared_label(row)}, {name}"
        ends = next((some[at] for some in (forest.moderated, forest.plain) if np.isfinite(some[at]).all()), None)
        interval = "no interval" if ends is None else "95 % interval {:+.1f} to {:+.1f}".format(*_percent(ends))
        shown = "" if row["established"] else ", not established"
        words.append(f"{first}: {_percent(forest.mean[at]):+.1f} % ({interval}, n = {row['n_blocks']} blocks){shown}")
    tell(axes, forest.mean, np.arange(len(rows)), words)


def _percent(log_ratios: Any) -> Any:
    """Log ratios as changes in percent; of a number or of an array."""
    return 100 * np.expm1(log_ratios)


def _mark_blocks(axes: Axes, forest: _Forest, marked: npt.NDArray[np.intp], limits: tuple[float, float]) -> None:
    """A small mark for each block, those that lie within the axis."""
    row, block = np.divmod(marked, forest.blocks.shape[1])
    values = forest.blocks[row, block]
    inside = (values >= limits[0]) & (values <= limits[1])
    spread = (block * 0.618034 + 0.5) % 1 - 0.5
    style.add_marks(axes, values[inside], (row + 0.6 * spread)[inside], style.PALE, "o", count=len(marked), size=6)


def _mark_rows(axes: Axes, forest: _Forest, ways: Sequence[str], width: float) -> None:
    """Draw each row: a thick moderated interval, a thin plain one, and the mean, hollow if it is not established."""
    y = np.arange(len(forest.mean))
    colours = [style.INK if top else style.WAY_COLOURS[way] for way, top in zip(ways, forest.is_overall, strict=True)]
    thick, thin = (np.clip(ends, -3 * width, 3 * width) for ends in (forest.moderated, forest.plain))
    axes.hlines(y, thick[:, 0], thick[:, 1], color=colours, linewidth=4, alpha=0.45, zorder=2)
    axes.hlines(y, thin[:, 0], thin[:, 1], color=style.INK, linewidth=0.9, zorder=4)
    alike: dict[tuple[str, int, str, str], list[int]] = {}  # one artist a look: one a row takes long to draw
    for at, way, top, colour, is_established in zip(
        y, ways, forest.is_overall, colours, forest.table["established"], strict=True
    ):
        shape, size = ("D", 6) if top else (style.WAY_MARKERS[way], 5)
        alike.setdefault((shape, size, colour, colour if is_established else "white"), []).append(int(at))
    for (shape, size, colour, face), rows in alike.items():
        axes.plot(
            forest.mean[rows], rows, linestyle="", marker=shape, color=colour, markersize=size, markerfacecolor=face,
            zorder=5,
        )  # fmt: skip
