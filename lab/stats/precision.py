"""The stopping rule's view of a run: the widths of intervals, and never their positions."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from lab.design.stopping import INTERVAL_BLOCKS, half_width_factor
from lab.stats.effect_ratios import block_effects, block_interactions
from lab.stats.encoding import Trials, grid
from lab.stats.factors import Row, change_label, factor_label, row_label
from lab.stats.intervals import t_means
from lab.stats.moderation import widen
from lab.stats.speed_matrix import Grid


def wide_effects(trials: Trials, asked: Sequence[str], precision: float) -> list[str]:
    """A line for each row of the asked effects whose interval is missing or wider than ±``precision`` (0.02: 2 %).

    Only widths count, because a rule that looked at results would stop at a lucky one. Blocks that resemble the block
    before count as fewer.
    """
    speeds = grid(trials)
    return [line for name in asked for line in _wide(speeds, name.split(":"), precision)]


def _wide(speeds: Grid, factors: Sequence[str], precision: float) -> Iterator[str]:
    if not set(factors) <= set(speeds.varied):
        yield f"{' and '.join(map(factor_label, factors))}: less than two levels were tried yet"
        return
    first, *others = factors
    rows = list(block_interactions(speeds, [(first, others[0])]) if others else block_effects(speeds, factors))
    values = np.array([row.log_ratios[-1] for _, row in rows]).reshape(len(rows), -1)
    plain = t_means(values)
    means = widen(values, plain, np.zeros(len(rows), dtype=np.intp))
    halves = np.expm1([plain.half, means.half]).T
    for (named, row), n, (alone, half) in zip(rows, means.n, halves, strict=True):
        if not half <= precision:
            alike = f", because blocks resemble the one before (±{100 * alone:.1f} % if not)" if half > alone else ""
            width = f"no interval yet (blocks: {n})" if np.isnan(half) else f"±{100 * half:.1f} %{alike}"
            yield f"{compared_label(named)}, {row_label(row.at)}: {width}"


def block_spreads(trials: Trials) -> pd.DataFrame:
    """The noise of each compared effect from block to block, which more blocks average out.

    Columns: ``effect``, ``where`` (words), number of ``blocks``, ``spread`` (the standard deviation of the blocks' log
    ratios; 0.05 is about 5 %; NaN below 2 blocks), ``is_overall``: over all cases.
    """
    rows, speeds, earlier = [], grid(trials), set()
    for named, row in block_effects(speeds):
        values = row.log_ratios[-1][np.isfinite(row.log_ratios[-1])]
        effect = compared_label(named)
        spread = float(values.std(ddof=1)) if len(values) > 1 else np.nan
        rows.append((effect, row_label(row.at), len(values), spread, effect not in earlier))
        earlier.add(effect)
    return pd.DataFrame(rows, columns=["effect", "where", "blocks", "spread", "is_overall"])


def half_width(spread: float, blocks: int) -> float:
    """The expected half width of an effect's interval after so many blocks (0.03: ± 3 %); see :func:`wide_effects`."""
    return float(np.expm1(half_width_factor(blocks) * spread))


def blocks_needed(spread: float, precision: float, most: int = 10_000) -> int | None:
    """The least number of blocks with an interval within ± ``precision``; None for more than ``most``."""
    enough = (blocks for blocks in range(INTERVAL_BLOCKS, most + 1) if half_width(spread, blocks) <= precision)
    return next(enough, None)


def compared_label(named: Row) -> str:
    """The comparison of a row of effects or interactions in words."""
    first = change_label(named["factor"], named["baseline"], named["level"])
    if "with_factor" not in named:
        return first
    return f"{first} with {change_label(named['with_factor'], named['with_baseline'], named['with_level'])}"
