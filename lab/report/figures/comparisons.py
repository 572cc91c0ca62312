"""What a level changes, how two factors act together, and how much of the variation each accounts for."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab import stats
from lab.report.figures.style import (
    INK,
    PALE,
    PALETTE,
    WAY_COLOURS,
    WAY_MARKERS,
    WAYS,
    add_legend,
    add_marks,
    begin,
    empty,
    mark,
    name_axes,
    name_rows,
    sample,
)

MOST_PANELS, MOST_SLOPES, MOST_BARS = 12, 16, 24
MEAN = Line2D([], [], color=INK, linestyle="", marker="|", markersize=9, markeredgewidth=2, label="mean over blocks")


def effects(trials: stats.Trials) -> Figure:
    """What each level changes against its baseline, in percent: every block a dot, the mean with its t interval."""
    trials = stats.encode(trials)
    title = "What a setting changes: one mark a block"
    rows = list(stats.block_effects(stats.grid(trials)))
    table = stats.effect_table(rows)
    blocks = pd.Series([row.log_ratios[0] for _, row in rows], index=table.index, dtype=object)
    table = table[table["n_blocks"] > 0]
    if table.empty:
        return empty(trials, title, "no two levels of a factor were measured in one block: nothing to compare")
    panels = list(table.groupby(["factor", "baseline", "level"], sort=False))
    notes = [f"comparisons drawn: {MOST_PANELS} of {len(panels)}"] if len(panels) > MOST_PANELS else []
    panels = panels[:MOST_PANELS]
    marks = max(sum(len(blocks[place]) for place in part.index) for _, part in panels)
    figure, drawn = _grid_of_panels(trials, [part for _, part in panels], [*notes, *sample(marks)[1]])
    for axes, (_, part) in zip(drawn, panels, strict=True):
        _effect_panel(axes, part, blocks[part.index])
        name_axes(axes, stats.compared_label(dict(part.iloc[0])), "change of throughput, %")
    interval = Line2D([], [], color=INK, linewidth=1.2, label="its 95 % interval")
    ways = [way for way in WAYS if (table["direction"] == way).any()]
    add_legend(figure, title, [*(mark(WAYS[way], WAY_COLOURS[way], WAY_MARKERS[way]) for way in ways), MEAN, interval])
    return figure


def interactions(trials: stats.Trials) -> Figure:
    """Two factors together: what the first changes, a line for each level of the second; lines that part interact."""
    trials = stats.encode(trials)
    title = "One setting on top of another: where lines part, the two act on each other"
    table = stats.interactions(stats.grid(trials)).query("n_blocks > 0")
    if table.empty:
        return empty(trials, title, "no two settings were varied together in one block")
    notes = []
    if len(table) > MOST_SLOPES:
        notes = [f"panels drawn: the {MOST_SLOPES} with the smallest p of {len(table)}; the table has them all"]
        table = table.sort_values("p_value", kind="stable").iloc[:MOST_SLOPES].sort_index()
    columns = min(4, len(table))
    storeys = -(-len(table) // columns)
    figure = begin(trials, 1.3 + 1.75 * storeys, notes)
    places = figure.add_gridspec(storeys, columns)
    for place, row in enumerate(table.to_dict("records")):
        axes = figure.add_subplot(places[place])
        _slopes(axes, row)
    words = ("second setting at its baseline", "on top of the second one's level")
    handles = [
        Line2D([], [], color=colour, marker="o", markersize=4, label=label)
        for colour, label in zip(PALETTE, words, strict=False)
    ]
    add_legend(figure, title, handles)
    return figure


def shares(trials: stats.Trials) -> Figure:
    """The share of the sum of squares of log MB/s that goes with each factor, each pair of factors, block and rest."""
    trials = stats.encode(trials)
    title = "What the variation of speeds goes with"
    variation = stats.shares(stats.grid(trials))
    table = variation.table.dropna(subset="share")
    if table.empty:
        return empty(trials, title, "no block has a good trial of every case, or nothing varied")
    last = table["term"].isin([stats.BLOCK, stats.REST])
    terms = table[~last].sort_values("share", ascending=False, kind="stable")
    notes = [f"blocks used: {variation.used} of {variation.blocks}, those with a good trial of every case"]
    if len(terms) > MOST_BARS:
        notes.append(f"bars drawn: the longest {MOST_BARS} of {len(terms)}")
    shown = pd.concat([terms.iloc[:MOST_BARS], table[last]])
    figure = begin(trials, 1.4 + 0.24 * len(shown), notes)
    axes = figure.subplots()
    name_rows(axes, [stats.term_label(term) for term in shown["term"]])
    percent = 100 * shown["share"].to_numpy()
    colours = [PALE if term in (stats.BLOCK, stats.REST) else PALETTE[":" in term] for term in shown["term"]]
    axes.barh(range(len(shown)), percent, color=colours, height=0.7)
    for place, value in enumerate(percent):
        axes.text(max(value, 0), place, f" {value:.1f}", va="center", fontsize=8, color=INK)
    axes.set_xlim(min(0, percent.min()), 1.08 * max(1e-9, percent.max()))
    name_axes(axes, "", "share of the sum of squares of log MB/s, %")
    kinds = ("one factor", "two together", "blocks; higher interactions and noise")
    add_legend(
        figure, title, [mark(kind, colour, "s") for kind, colour in zip(kinds, (*PALETTE[:2], PALE), strict=True)]
    )
    return figure


def _grid_of_panels(
    trials: stats.Trials, parts: Sequence[pd.DataFrame], notes: Sequence[str]
) -> tuple[Figure, list[Axes]]:
    """A panel for each part, in twos, each with rows of its own."""
    counts = [len(set(_rows(part))) for part in parts]
    heights = [0.75 + 0.36 * max(pair) for pair in itertools.zip_longest(counts[::2], counts[1::2], fillvalue=0)]
    figure = begin(trials, 1.1 + sum(heights), notes)
    places = figure.add_gridspec(len(heights), min(2, len(parts)), height_ratios=heights)
    return figure, [figure.add_subplot(places[place]) for place in range(len(parts))]


def _rows(part: pd.DataFrame) -> list[str]:
    """The name of each line's row: the direction has a strip of its own in it."""
    names = zip(part["protocol"], part["tool"], strict=True)
    return [stats.row_label({"protocol": protocol, "tool": tool}) for protocol, tool in names]


def _effect_panel(axes: Axes, part: pd.DataFrame, blocks: stats.Column) -> None:
    """The rows of one contrast: a strip for each direction with its marks, mean and interval."""
    axes.axvline(0, color=INK, linewidth=0.8)
    of_lines = _rows(part)
    rows, ways = list(dict.fromkeys(of_lines)), [way for way in WAYS if (part["direction"] == way).any()]
    name_rows(axes, rows)
    half = 0.41 / len(ways)
    direction = part["direction"].map(ways.index).to_numpy()
    y = np.array([rows.index(row) for row in of_lines]) - 0.41 + half * (2 * direction + 1)
    ratios = np.stack(blocks.to_list())
    chosen = sample(ratios.size)[0]
    line, block = np.divmod(chosen[np.isfinite(ratios.ravel()[chosen])], ratios.shape[1])
    changes = stats.percent_change(1.0, np.exp(ratios[line, block]))
    spread = (block * 0.618034 + 0.5) % 1 - 0.5
    for number, way in enumerate(ways):
        here, marked = part[direction == number], direction[line] == number
        low, high, at = here["low_pct"], here["high_pct"], y[direction == number]
        axes.hlines(at, low, high, color=INK, linewidth=1.2, zorder=4)
        axes.vlines(here["change_pct"], at - 0.9 * half, at + 0.9 * half, color=INK, linewidth=1.8, zorder=4)
        look = (WAY_COLOURS[way], WAY_MARKERS[way])
        add_marks(axes, changes[marked], (y[line] + spread * half)[marked], *look, count=len(chosen))


def _slopes(axes: Axes, row: stats.Row) -> None:
    """One row of the interactions: what the first setting changes at either level of the second, with its interval."""
    for part, colour, at in (("alone", PALETTE[0], 0.97), ("on_top", PALETTE[1], 1.03)):
        change, low, high = (row[f"{part}{end}"] for end in ("_pct", "_low_pct", "_high_pct"))
        axes.plot([0, at], [0, change], color=colour, marker="o", markersize=4, linewidth=1.4)
        axes.vlines(at, low, high, color=colour, linewidth=1.4)
    first, second = row["factor"], row["with_factor"]
    axes.set_xticks([0, 1], [stats.level_label(first, row[name]) for name in ("baseline", "level")])
    axes.set_xlim(-0.15, 1.15)
    change = stats.change_label(second, row["with_baseline"], row["with_level"])
    name_axes(axes, f"{stats.row_label(row)}\n{change}", stats.factor_label(first), "%")
    axes.title.set_fontsize(7.5)
