"""`design.ipynb`: how many blocks a run needs, by the noise of a measured run."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lab.design.stopping import INTERVAL_BLOCKS, LEAST_BLOCKS, LOOKS
from lab.report.analysis import Run, analyse
from lab.report.figures.style import PALETTE, add_legend, begin, mark, name_axes
from lab.stats.factors import rows_of
from lab.stats.intervals import t_means
from lab.stats.precision import block_spreads, blocks_needed, half_width

MOST_BLOCKS = 60  # of a figure
MOST_LINES = 6
DRAWS = 2000


def noise(run: Run) -> pd.DataFrame:
    """The spread of each effect over all cases from block to block, the noisiest first.

    Effects with too few blocks are left out. See :func:`lab.stats.precision.block_spreads`.
    """
    spreads = block_spreads(analyse(run).trials)
    overall = spreads[spreads["is_overall"] & spreads["spread"].gt(0) & spreads["blocks"].ge(INTERVAL_BLOCKS)]
    return overall.drop(columns="is_overall").sort_values("spread", ascending=False, ignore_index=True)


def table_of_blocks(spreads: pd.DataFrame, precision: float) -> pd.DataFrame:
    """For each effect its noise, the width of its interval, and the blocks needed for ± ``precision``.

    ``by itself`` is about the number of blocks after which a run with this precision stops: at least LEAST_BLOCKS, and
    with intervals that stay narrow for LOOKS blocks.
    """
    needed = [blocks_needed(spread, precision) for spread in spreads["spread"]]
    now = [100 * half_width(row["spread"], row["blocks"]) for row in rows_of(spreads)]
    by_itself = [count and max(LEAST_BLOCKS, count + LOOKS - 1) for count in needed]
    table = pd.DataFrame({"noise %": 100 * spreads["spread"], "blocks": spreads["blocks"], "± % now": now}).round(1)
    table[f"blocks for ±{100 * precision:g} %"], table["by itself"] = needed, by_itself
    return table.set_index(spreads["effect"] + ", " + spreads["where"])


def draw_widths(run: Run, precision: float) -> Figure:
    """The half-width of each effect's interval against the number of blocks, and the wanted precision."""
    figure = begin(analyse(run).trials, 3.6)
    axes, blocks = figure.subplots(), np.arange(INTERVAL_BLOCKS, MOST_BLOCKS + 1)
    handles = []
    for colour, row in zip(PALETTE, rows_of(noise(run).head(MOST_LINES)), strict=False):
        axes.plot(blocks, [100 * half_width(row["spread"], int(count)) for count in blocks], color=colour)
        handles.append(mark(row["effect"], colour, "_"))
    axes.axhline(100 * precision, color=PALETTE[6], linewidth=0.8, linestyle="--")
    axes.set(yscale="log", yticks=[1, 2, 3, 5, 10, 20, 50], yticklabels=["1", "2", "3", "5", "10", "20", "50"])
    axes.minorticks_off()
    name_axes(axes, "", "blocks", "half-width of the 95 % interval, %")
    add_legend(figure, f"How many blocks for ±{100 * precision:g} % (dashed)", handles)
    return figure


def power(spread: float, changes: list[float], blocks: list[int], seed: int = 1) -> pd.DataFrame:
    """How often the 95 % interval of an effect excludes 0, in percent, in DRAWS draws of normal noise of ``spread``.

    ``changes`` are shares: 0.03 is 3 %. There is a row for each change and a column for each number of blocks.
    """
    chance = np.random.default_rng(seed)
    table = {}
    for count in blocks:
        noise_of_blocks = spread * chance.standard_normal((DRAWS, count))
        intervals = [t_means(noise_of_blocks + np.log1p(change)) for change in changes]
        table[f"{count} blocks"] = [100 * float((np.abs(means.mean) > means.half).mean()) for means in intervals]
    return pd.DataFrame(table, index=[f"{100 * change:+g} %" for change in changes]).round(0).astype(int)
