"""One sweep on several pairs of hosts: each effect over all cases, a mark a pair, and the mean over the pairs."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab import stats
from lab.base.untrusted import one_line
from lab.report.compared.pairs_of_hosts import PairsOfHosts
from lab.report.compared.tables import where_from
from lab.report.figures import style
from lab.report.figures.values import tell
from lab.stats.intervals import Floats

MOST_ROWS, MOST_PLACES = 30, 90  # effects of a figure, and pairs and effects together: more would be a page high
WIDEST = 3.0  # times the largest mean of a pair that is drawn: an interval that is wider leaves the panel
PAIR = style.mark("one pair, its own interval", style.PALETTE[0], "o", 4)
MEAN = style.mark("over pairs", style.INK, "D", 6)
OVER = Line2D([], [], color=style.INK, linewidth=4, alpha=0.45, label="95 % interval over pairs")
FURTHER = Line2D([], [], color=style.INK, linewidth=0.9, label="where a further pair would lie")
HOLLOW = style.mark("not established over pairs", style.INK, "D", 6, hollow=True)


def effects_over_pairs(pairs: PairsOfHosts) -> Figure:
    """A forest of the overall effects; of many only the first, and it says so."""
    table = pairs.table.effects
    rows = np.flatnonzero(stats.comparisons(table)[1]) if len(table) else np.empty(0, np.intp)
    shown = rows[: min(MOST_ROWS, max(1, MOST_PLACES // (1 + len(pairs.pairs))))]
    left_out = f"effects drawn: {len(shown)} of {len(rows)}; the table has them all" if len(rows) > len(shown) else ""
    footer = [one_line("; ".join(map(where_from, pairs.runs)), style.LONGEST_PART), left_out]
    figure = style.begin_over(footer, 1.6 + 0.24 * max(4, len(shown) * (1 + 0.5 * len(pairs.pairs))))
    axes = figure.subplots()
    if len(shown):
        style.name_rows(axes, [stats.compared_label(row) for row in stats.rows_of(table.iloc[shown])])
        _draw(axes, pairs, shown)
    else:
        axes.set(xticks=[], yticks=[])
        style.note(axes, "no two levels of a factor were measured in one block: nothing to compare")
    style.add_legend(figure, "What each setting changes, over pairs of hosts", [MEAN, HOLLOW, OVER, FURTHER, PAIR])
    return figure


def _draw(axes: Axes, pairs: PairsOfHosts, shown: style.Places) -> None:
    table, pair_effects = pairs.table.effects.iloc[shown], pairs.table.effects_of_pairs
    shown_effects = pair_effects[pair_effects["row"].isin(shown)]
    change, first, last = (_logs(shown_effects[f"{name}_pct"]) for name in ("change", "low", "high"))
    ends = [*first, *last, *_logs(table["low_pct"]), *_logs(table["high_pct"])]
    low, high = style.limits_of_ratios([*change, *_logs(table["change_pct"])], ends, WIDEST)
    places = {row: place for place, row in enumerate(shown.tolist())}
    # a pair stands below the mean of its row, one below the other
    shift = -0.2 + 0.62 * (shown_effects["pair"].to_numpy(float) + 0.5) / len(pairs.pairs)
    at = shown_effects["row"].map(places).to_numpy(float) + shift
    axes.axvline(0, color=style.INK, linewidth=0.8)
    axes.hlines(at, *_clip(low, high, first, last), color=style.PALETTE[0], linewidth=0.9, zorder=3)
    axes.plot(change, at, linestyle="", marker="o", markersize=4, color=style.PALETTE[0], zorder=4)
    _draw_means(axes, pairs, shown, (low, high))
    words = [
        f"{stats.compared_label(dict(pairs.table.effects.loc[row['row']]))}, {pairs.pairs[row['pair']].name}: "
        f"{_interval(row)}, n = {row['n_blocks']} blocks"
        for row in stats.rows_of(shown_effects)
    ]
    tell(axes, change, at, words)
    style.set_ratio_axis(axes, low, high, "change of throughput, % (axis of ratios)")


def _draw_means(axes: Axes, pairs: PairsOfHosts, shown: style.Places, limits: tuple[float, float]) -> None:
    table = pairs.table.effects.iloc[shown]
    means = _logs(table["change_pct"])
    at = np.arange(len(table), dtype=np.float64) + np.float64(-0.36)
    for thickness, prefix, alpha in ((0.9, "predicted_", 1.0), (4.0, "", 0.45)):
        ends = _clip(*limits, *(_logs(table[f"{prefix}{end}_pct"]) for end in ("low", "high")))
        axes.hlines(at, *ends, color=style.INK, linewidth=thickness, alpha=alpha, zorder=3)
    style.mark_means(axes, means, at, (style.INK, "D", 6), table["established"].to_numpy(bool))
    words = [
        f"{stats.compared_label(row)}: {_interval(row)} over {row['n_pairs']} pairs"
        f"{'' if row['established'] else ', not established'}"
        for row in stats.rows_of(table)
    ]
    tell(axes, means, at, words)


def _interval(row: stats.Row) -> str:
    known = not np.isnan(row["low_pct"])
    interval = f"95 % interval {row['low_pct']:+.1f} to {row['high_pct']:+.1f}" if known else "no interval"
    return f"{row['change_pct']:+.1f} % ({interval})"


def _logs(percents: object) -> Floats:
    logs: Floats = np.log1p(np.asarray(percents, dtype=float) / 100)
    return logs


def _clip(low: float, high: float, first: Floats, last: Floats) -> tuple[Floats, Floats]:
    """The ends of lines, where they lie far outside of the panel nearer to it."""
    reach = high - low
    return np.clip(first, low - reach, high + reach), np.clip(last, low - reach, high + reach)
