"""The stopping rule's view of a run: how wide the intervals are, and nothing of where they lie."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from lab.design.stopping import INTERVAL_BLOCKS, half_width_factor
from lab.stats.effect_ratios import Compared, block_effects, block_interactions
from lab.stats.encoding import Trials, grid
from lab.stats.factors import Row, change_label, factor_label, row_label
from lab.stats.intervals import t_means
from lab.stats.moderation import widen
from lab.stats.speed_matrix import Grid


def wide_effects(trials: Trials, asked: Sequence[str], precision: float) -> list[str]:
    """The asked effects, a line a row, whose interval is still wider than ±``precision`` (0.02: 2 %), or missing.

    Looks at the widths alone, never at what came out: a rule that did would stop at a lucky result. Blocks that
    resemble the one before count as fewer.
    """
    speeds = grid(trials)
    return [line for name in asked for line in _wide(speeds, name.split(":"), precision)]


def _wide(speeds: Grid, factors: Sequence[str], precision: float) -> Iterator[str]:
    if not set(factors) <= set(speeds.varied):
        yield f"{' and '.join(map(factor_label, factors))}: less than two levels were tried yet"
        return
    rows = list(_rows(speeds, factors))
    values = np.array([row.log_ratios[-1] for _, row in rows]).reshape(len(rows), -1)
    plain = t_means(values)
    means = widen(values, plain, np.zeros(len(rows), dtype=np.intp))
    halves = np.expm1([plain.half, means.half]).T
    for (named, row), n, (alone, half) in zip(rows, means.n, halves, strict=True):
        if not half <= precision:
            alike = f", for blocks resemble the one before (±{100 * alone:.1f} % if not)" if half > alone else ""
            width = f"no interval yet (blocks: {n})" if np.isnan(half) else f"±{100 * half:.1f} %{alike}"
            yield f"{compared_label(named)}, {row_label(row.at)}: {width}"


def _rows(speeds: Grid, factors: Sequence[str]) -> Iterator[Compared]:
    if len(factors) == 1:
        return block_effects(speeds, factors)
    return block_interactions(speeds, [(factors[0], factors[1])])


def block_spreads(trials: Trials) -> pd.DataFrame:
    """How much each compared effect differs from block to block: the noise that more blocks average out.

    Columns: ``effect``, ``where`` (words), ``blocks`` that have a value, ``spread`` (the standard deviation of the log
    ratios of blocks; 0.05 is some 5 %; NaN below 2 blocks), ``is_overall``: over all cases.
    """
    rows, speeds, seen = [], grid(trials), set()
    for named, row in block_effects(speeds):
        values = row.log_ratios[-1][np.isfinite(row.log_ratios[-1])]
        effect = compared_label(named)
        spread = float(values.std(ddof=1)) if len(values) > 1 else np.nan
        rows.append((effect, row_label(row.at), len(values), spread, effect not in seen))
        seen.add(effect)
    return pd.DataFrame(rows, columns=["effect", "where", "blocks", "spread", "is_overall"])


def half_width(spread: float, blocks: int) -> float:
    """How wide the interval of an effect is to be after so many blocks: ± this share (0.03: 3 %), as
    :func:`wide_effects` measures it.
    """
    return float(np.expm1(half_width_factor(blocks) * spread))


def blocks_needed(spread: float, precision: float, most: int = 10_000) -> int | None:
    """The least number of blocks after which an interval is within ± ``precision``; None for more than ``most``."""
    enough = (blocks for blocks in range(INTERVAL_BLOCKS, most + 1) if half_width(spread, blocks) <= precision)
    return next(enough, None)


def compared_label(named: Row) -> str:
    """What a row of an effect or of an interaction compares, in words."""
    one = change_label(named["factor"], named["baseline"], named["level"])
    if "with_factor" not in named:
        return one
    return f"{one} with {change_label(named['with_factor'], named['with_baseline'], named['with_level'])}"
