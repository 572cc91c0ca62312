"""Which one factor, set to another level with all else alike, made a case faster in the same run: a cause, not a guess.

A ratio is of two trials of one block, so that what drifts between blocks is in neither.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lab.design.factors import ABSENT
from lab.design.stopping import INTERVAL_BLOCKS
from lab.stats.effect_ratios import adjustable_factors
from lab.stats.factors import Level
from lab.stats.intervals import t_means
from lab.stats.limit import NEAR
from lab.stats.speed_matrix import Grid

NO_CAUSE = ("placebo", "workload")  # the first changes nothing, and another payload is not this one made faster
Codes = tuple[int, ...]  # the number of a case's level of each of grid.factors


@dataclass(frozen=True)
class BetterLevel:
    """Another ``level`` of ``factor``: how many times as fast it was, with the ends of the 95 % interval."""

    factor: str
    own: Level
    level: Level
    ratio: float
    low: float
    high: float
    blocks: int


def better_levels(grid: Grid) -> dict[tuple[Level, ...], list[BetterLevel]]:
    """The better levels of each case, one a factor, the best first; only those that are established and matter.

    A case is its levels of ``grid.factors``, ABSENT for an option of another protocol.

    That is: the interval of the ratio within blocks excludes 1, and the case came to less than NEAR of the speed with
    the other level, as of any other limit. Student's t over at least INTERVAL_BLOCKS blocks.
    """
    rows = {tuple(codes): number for number, codes in enumerate(grid.codes.tolist())}
    pairs = [
        pair for factor in adjustable_factors(grid) if factor not in NO_CAUSE for pair in _pairs(grid, factor, rows)
    ]
    if not pairs:
        return {}
    own, other = np.array([rows_of for _, *rows_of in pairs]).T
    means = t_means(grid.log_speed[other] - grid.log_speed[own])
    matters = (means.n >= INTERVAL_BLOCKS) & (means.mean - means.half > 0) & (means.mean > -np.log(NEAR))
    by_case: dict[int, dict[str, BetterLevel]] = {}
    for at in np.flatnonzero(matters):
        factor, case, partner = pairs[at]
        own_code, code = grid.code(factor)[[case, partner]]
        ratio, low, high = np.exp(means.mean[at] + means.half[at] * np.array([0, -1, 1])).tolist()
        levels = grid.levels[factor]
        better = BetterLevel(factor, levels[own_code], levels[code], ratio, low, high, int(means.n[at]))
        of_case = by_case.setdefault(case, {})
        of_case[factor] = max(better, of_case.get(factor, better), key=lambda known: known.ratio)
    return {
        _levels(grid, case): sorted(by_factor.values(), key=lambda better: -better.ratio)
        for case, by_factor in by_case.items()
    }


def _levels(grid: Grid, case: int) -> tuple[Level, ...]:
    """The levels of a case, ABSENT where the code is −1."""
    return tuple(
        ABSENT if code < 0 else grid.levels[name][code]
        for name, code in zip(grid.factors, grid.codes[case].tolist(), strict=True)
    )


def _pairs(grid: Grid, factor: str, rows: Mapping[Codes, int]) -> list[tuple[str, int, int]]:
    """The factor, and the rows of each two cases that differ in nothing else."""
    place = grid.factors.index(factor)
    return [
        (factor, number, rows[partner])
        for case, number in rows.items()
        for code in range(len(grid.levels[factor]))
        if code != case[place] >= 0 and (partner := (*case[:place], code, *case[place + 1 :])) in rows
    ]
