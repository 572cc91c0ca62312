"""The change of each level and the interactions of factors, on one axis of ratios; and what the variation goes with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab import stats
from lab.report.analysis import Analysis, Run, analyse
from lab.report.figures import style
from lab.report.figures.values import tell
from lab.stats.intervals import Floats

MOST_ROWS = 50  # in a figure; more would be a page high
SOME_ROWS = 25  # drawn if there are more: a sample either way, and twice as many take twice as long
WIDEST = 2.0  # times the largest mean ratio that is drawn: an interval that is wider leaves the panel
OVERALL = style.mark("overall", style.INK, "D", 6)
HOLLOW = Line2D(
    [], [], color=style.INK, linestyle="", marker="D", markersize=6, markerfacecolor="white", label="not established"
)
MODERATED = Line2D([], [], color=style.PALE, linewidth=4, label="moderated 95 % interval")
PLAIN = Line2D([], [], color=style.INK, linewidth=0.9, label="plain one (Student's t)")
BLOCK = style.mark("one block", style.PALE, "o", 3)


@dataclass(frozen=True)
class _Forest:
    """Rows of a ``table`` of comparisons as log ratios: mean, intervals (rows × 2), and every block (rows × blocks)."""

    table: pd.DataFrame
    mean: Floats
    plain: Floats
    moderated: Floats
    blocks: Floats
    is_overall: style.Flags

    def take(self, at: style.Places) -> _Forest:
        """Some of the rows, in this order."""
        return _Forest(
            self.table.iloc[at], self.mean[at], self.plain[at], self.moderated[at], self.blocks[at], self.is_overall[at]
        )  # fmt: skip


def effects(run: Run) -> Figure:
    """The change of each level against its baseline: an overall row, below it one a protocol and tool."""
    run, title = analyse(run), "What a setting changes"
    if not (run.effects["n_blocks"] > 0).any():
        why = "no two levels of a factor were measured in one block: nothing to compare"
        return style.empty(run.trials, title, why)
    forest = _forest(run.effects, [row.log_ratios[0] for _, row in run.block_effects], "change_", "")
    return _draw(run, title, forest, "change of throughput, % (axis of ratios)")


def interactions(run: Run) -> Figure:
    """How far two settings together are from the product of what each changes alone."""
    run, title = analyse(run), "Do settings act on each other? Two together, over what each gives alone"
    if not (run.interactions["n_blocks"] > 0).any():
        return style.empty(run.trials, title, "fewer than two settings were varied beside protocol, tool and direction")
    blocks = [row.log_ratios[-1] for _, row in run.block_interactions]
    forest = _forest(run.interactions, blocks, "interaction_", "interaction_")
    return _draw(run, title, forest, "interaction, % (axis of ratios)")


def _forest(table: pd.DataFrame, blocks: Sequence[Floats], mean_prefix: str, end_prefix: str) -> _Forest:
    """The rows for which any block has a value; the comparison with the largest overall ratio first."""
    comparison, is_overall = stats.comparisons(table)
    plain, moderated = (
        np.log1p(table[[f"{end_prefix}{kind}{end}_pct" for end in ("low", "high")]].to_numpy() / 100)
        for kind in ("", "moderated_")
    )
    mean = np.log1p(table[f"{mean_prefix}pct"].to_numpy() / 100)
    height = pd.Series(np.where(is_overall, np.abs(mean), np.nan)).groupby(comparison).transform("max")
    order = np.lexsort((-mean, ~is_overall, comparison, -np.nan_to_num(height.to_numpy())))
    measured = order[(table["n_blocks"].to_numpy() > 0)[order]]
    return _Forest(table, mean, plain, moderated, np.array(blocks), is_overall).take(measured)


def _draw(run: Analysis, title: str, forest: _Forest, xlabel: str) -> Figure:
    notes, count = [], len(forest.mean)
    if count > MOST_ROWS:
        notes = [f"rows drawn: {SOME_ROWS} of {count}, overall rows first; the table has them all"]
        forest = forest.take(np.sort(np.argsort(~forest.is_overall, kind="stable")[:SOME_ROWS]))
    marked, more = style.sample(forest.blocks.size)
    figure = style.begin(run.trials, 1.5 + 0.19 * len(forest.mean), [*notes, *more])
    axes = figure.subplots()
    axes.axvline(0, color=style.INK, linewidth=0.8)
    rows = stats.rows_of(forest.table)
    names = [
        stats.compared_label(row) if is_overall else stats.row_label(row)
        for row, is_overall in zip(rows, forest.is_overall, strict=True)
    ]
    style.name_rows(axes, names, [style.BOLD if is_overall else style.PLAIN for is_overall in forest.is_overall])
    low, high = style.limits_of_ratios(forest.mean, forest.moderated, WIDEST)
    _mark_blocks(axes, forest, marked, (low, high))
    _mark_rows(axes, forest, [str(row["direction"]) for row in rows], high - low)
    tell(axes, forest.mean, np.arange(len(rows)), _words(forest, rows, names))
    style.set_ratio_axis(axes, low, high, xlabel)
    directions = style.direction_marks(forest.table["direction"])
    style.add_legend(figure, title, [OVERALL, *directions, HOLLOW, MODERATED, PLAIN, BLOCK])
    return figure


def _words(forest: _Forest, rows: Sequence[stats.Row], names: Sequence[str]) -> list[str]:
    words = []
    for at, (row, name) in enumerate(zip(rows, names, strict=True)):
        first = name if forest.is_overall[at] else f"{stats.compared_label(row)}, {name}"
        ends = next((part[at] for part in (forest.moderated, forest.plain) if np.isfinite(part[at]).all()), None)
        interval = "no interval" if ends is None else "95 % interval {:+.1f} to {:+.1f}".format(*(100 * np.expm1(ends)))
        change = f"{100 * np.expm1(forest.mean[at]):+.1f} % ({interval}, n = {row['n_blocks']} blocks)"
        words.append(f"{first}: {change}{'' if row['established'] else ', not established'}")
    return words


def _mark_blocks(axes: Axes, forest: _Forest, marked: style.Places, limits: tuple[float, float]) -> None:
    row, block = np.divmod(marked, forest.blocks.shape[1])
    values = forest.blocks[row, block]
    inside = (values >= limits[0]) & (values <= limits[1])
    spread = (block * 0.618034 + 0.5) % 1 - 0.5
    y = (row + 0.6 * spread)[inside]
    style.add_marks(axes, values[inside], y, (style.PALE, "o"), count=len(marked), size=6)


def _mark_rows(axes: Axes, forest: _Forest, directions: Sequence[str], width: float) -> None:
    """Draw each row: a thick moderated interval, a thin plain one, and the mean, hollow if it is not established."""
    y = range(len(forest.mean))
    colours = [
        style.INK if is_overall else style.WAY_COLOURS[direction]
        for direction, is_overall in zip(directions, forest.is_overall, strict=True)
    ]
    thick, thin = (np.clip(ends, -3 * width, 3 * width) for ends in (forest.moderated, forest.plain))
    axes.hlines(y, thick[:, 0], thick[:, 1], color=colours, linewidth=4, alpha=0.45, zorder=2)
    axes.hlines(y, thin[:, 0], thin[:, 1], color=style.INK, linewidth=0.9, zorder=4)
    alike: dict[tuple[str, int, str, str], list[int]] = {}  # one artist a look: one a row takes long to draw
    established = forest.table["established"]
    for at, colour, is_overall, is_established in zip(y, colours, forest.is_overall, established, strict=True):
        shape, size = ("D", 6) if is_overall else (style.WAY_MARKERS[directions[at]], 5)
        alike.setdefault((shape, size, colour, colour if is_established else "white"), []).append(at)
    for (shape, size, colour, face), rows in alike.items():
        axes.plot(
            forest.mean[rows], rows, linestyle="", marker=shape, color=colour, markersize=size, markerfacecolor=face,
            zorder=5,
        )  # fmt: skip


MOST_BARS = 24
SMALL = 0.01  # share of the variation: shorter bars cannot be told from none
FOLDED = "folded"


def shares(run: Run) -> Figure:
    """The share of the sum of squares of log MB/s for each factor, two factors together, the block, and the rest."""
    run, title = analyse(run), "What the variation of speeds goes with"
    variation = run.shares
    table = variation.table.dropna(subset="share")
    if table.empty:
        why = "no block has a good trial of every case, nothing varied, or too many levels did"
        return style.empty(run.trials, title, why)
    last = table["term"].isin([stats.BLOCK, stats.REST])
    terms = _fold(table[~last].sort_values("share", ascending=False, kind="stable"))
    notes = [f"blocks used: {variation.used} of {variation.blocks}, those with a good trial of every case"]
    shown = pd.concat([terms, table[last].assign(name=table["term"].map(stats.term_label))])
    figure = style.begin(run.trials, 1.4 + 0.24 * len(shown), notes)
    axes = figure.subplots()
    style.name_rows(axes, shown["name"].to_list())
    percent = 100 * shown["share"].to_numpy()
    colours = [
        style.PALE if term in (stats.BLOCK, stats.REST, FOLDED) else style.PALETTE[":" in term]
        for term in shown["term"]
    ]
    axes.barh(range(len(shown)), percent, color=colours, height=0.7)
    for place, value in enumerate(percent):
        axes.annotate(
            f"{value:.1f}", (max(value, 0), place), (style.BESIDE_PT, 0), textcoords="offset points", va="center",
            fontsize=8, color=style.INK,
        )  # fmt: skip
    words = [f"{name}: {value:.1f} % of the variation" for name, value in zip(shown["name"], percent, strict=True)]
    tell(axes, percent, range(len(shown)), words)
    axes.set_xlim(min(0, percent.min()), 1.08 * max(1e-9, percent.max()))
    style.name_axes(axes, "", "share of the sum of squares of log MB/s, %")
    kinds = ("one factor", "two together", "small ones; blocks; higher interactions and noise")
    entries = zip(kinds, (*style.PALETTE[:2], style.PALE), strict=True)
    style.add_legend(figure, title, [style.mark(kind, colour, "s") for kind, colour in entries])
    return figure


def _fold(terms: pd.DataFrame) -> pd.DataFrame:
    """The terms by name, largest first; what is SMALL, or beyond MOST_BARS, as one row with their sum."""
    named = terms.assign(name=terms["term"].map(stats.term_label))
    is_small = (named["share"].abs() < SMALL).to_numpy(copy=True)
    is_small[MOST_BARS:] = True
    if is_small.sum() < 2:
        return named
    small = named[is_small]
    name = f"{len(small)} others, each below {100 * max(SMALL, small['share'].max()):.2g} %"
    folded = {"term": FOLDED, "share": small["share"].sum(), "name": name}
    return pd.concat([named[~is_small], pd.DataFrame([folded])], ignore_index=True)
