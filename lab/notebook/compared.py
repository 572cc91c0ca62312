"""What `compare.ipynb` shows of two runs: what differs between them, and how the cases that both tried compare."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab import stats
from lab.notebook.opened import Opened
from lab.notebook.table import Table
from lab.report.figures.style import INK, PALE, add_legend, begin_over, mark, name_axes, name_rows
from lab.report.tables import TextTable, between, change, number

MOST_ROWS = 40  # of a figure: more would be a page high


def show_differences(a: Opened, b: Opened) -> Table:
    """What the runs say differently of hosts, code and levels."""
    rows = [list(difference) for difference in stats.differing_facts(a.run, b.run)]
    for name, mine, its in stats.differing_levels(a.trials, b.trials):
        levels = [", ".join(stats.level_label(name, level) for level in side) for side in (mine, its)]
        rows.append([stats.factor_label(name), *levels])
    return Table(TextTable(["differs", f"A: {a.name}", f"B: {b.name}"], rows, is_text=True), "What differs")


def show_pooled(a: Opened, b: Opened) -> Table:
    """B over A by protocol, tool and direction, from :func:`lab.stats.compare`."""
    _, pooled = stats.compare(a.trials, b.trials)
    rows = [
        [
            stats.row_label(row), number(row["MB_per_s_a"], ".1f"), number(row["MB_per_s_b"], ".1f"),
            change(row, "change_pct"), between(row["low_pct"], row["high_pct"], "+.1f"),
            str(row["n_a"]), str(row["n_b"]),
        ]
        for row in stats.rows_of(pooled)
    ]  # fmt: skip
    headings = ["", "A MB/s", "B MB/s", "B/A %", "95 % interval", "n A", "n B"]
    return Table(TextTable(headings, rows, "Geometric means of n blocks."), f"{b.name} over {a.name}")


def cases(a: Opened, b: Opened) -> pd.DataFrame:
    """B over A for each case that both tried, by the factors that vary."""
    table, _ = stats.compare(a.trials, b.trials)
    factors = table.columns[: table.columns.get_loc("n_a")]
    alike = [name for name in factors if table[name].nunique() <= 1]
    return table.drop(columns=[*alike, "ratio", "p_value"]).round(2)


def draw_change(a: Opened, b: Opened) -> Figure:
    """The change of each protocol, tool and direction from A to B, with its interval."""
    _, pooled = stats.compare(a.trials, b.trials)
    shown = pooled[pooled["change_pct"].notna()].head(MOST_ROWS)
    figure = begin_over([f"A: {a.name}", f"B: {b.name}"], 1.4 + 0.26 * max(1, len(shown)))
    axes = figure.subplots()
    name_rows(axes, [stats.row_label(row) for row in stats.rows_of(shown)])
    low, middle, high = (_ratios(shown[name]) for name in ("low_pct", "change_pct", "high_pct"))
    places = np.arange(len(shown))
    axes.hlines(places, low, high, color=INK, linewidth=1)
    axes.plot(middle, places, "D", color=INK, markersize=5)
    axes.axvline(0, color=PALE, linewidth=0.8)
    name_axes(axes, "", "change of throughput from A to B, %")
    add_legend(figure, "B over A", [mark("mean over blocks, with its 95 % interval", INK, "D")])
    return figure


def _ratios(percents: pd.Series[float]) -> list[float]:
    return [float(value) for value in percents]
