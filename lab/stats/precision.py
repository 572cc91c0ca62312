"""The stopping rule's view of a run: how wide the intervals are, and nothing of where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lab.stats.autocorrelation import widen
from lab.stats.effect_ratios import Compared, block_effects, block_interactions
from lab.stats.encoding import Trials, grid
from lab.stats.factors import Row, change_label, factor_label, row_label
from lab.stats.intervals import t_means
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


def compared_label(named: Row) -> str:
    """What a row of an effect or of an interaction compares, in words."""
    one = change_label(named["factor"], named["baseline"], named["level"])
    if "with_factor" not in named:
        return one
    return f"{one} with {change_label(named['with_factor'], named['with_baseline'], named['with_level'])}"
