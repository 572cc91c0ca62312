"""How much of the variation each factor accounts for."""

import pandas as pd
from matplotlib.figure import Figure

from lab import stats
from lab.report.analysis import Run, analyse
from lab.report.figures import style
from lab.report.figures.values import tell

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
