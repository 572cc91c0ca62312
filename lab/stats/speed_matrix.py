"""A run as one dense matrix of log speeds, cases × blocks: every comparison within blocks is computed on it."""

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.design.factors import ABSENT, chooser_of
from lab.stats.factors import Cells, Codes, Level
from lab.stats.intervals import Floats


@dataclass(frozen=True, eq=False)  # compared by identity: a grid is a key of caches
class Grid:
    """The transfers of a run, without anchors and without the link.

    ``levels`` are in reading order. ``codes`` (cases × factors) are the numbers of a case's levels, −1 for an option of
    another protocol. ``log_speed`` (cases × blocks) is the natural logarithm of MB/s, NaN without a good trial;
    ``tried`` (same shape) says where there was any trial.
    """

    factors: tuple[str, ...]
    levels: dict[str, list[Level]]
    codes: Codes
    blocks: npt.NDArray[np.int64]
    log_speed: Floats
    tried: npt.NDArray[np.bool_]

    @property
    def varied(self) -> list[str]:
        """The factors with more than one level."""
        return [factor for factor in self.factors if len(self.levels[factor]) > 1]

    def code(self, factor: str) -> Codes:
        """The level of every case, as a number."""
        return self.codes[:, self.factors.index(factor)]

    def cases(self) -> Iterator[tuple[Level, ...]]:
        """The levels of every case, ABSENT for an option of another protocol."""
        columns = [[[*self.levels[factor], ABSENT][code] for code in self.code(factor)] for factor in self.factors]
        return zip(*columns, strict=True)


def of_rows(cases: Cells, block: Codes, blocks: Sequence[Level], speed: Floats, good: npt.NDArray[np.bool_]) -> Grid:
    """The grid of trials by cases, places in ``blocks`` and MB/s; a case counts once in a block, by its median."""
    place, shape = cases.cell * len(blocks) + block, (len(cases.codes), len(blocks))
    log_speed = np.full(shape, np.nan)
    log_speed.ravel()[place[good]] = _once(place[good], speed[good])
    tried = np.zeros(shape, dtype=bool)
    tried.ravel()[place] = True
    np.log(log_speed, out=log_speed)
    levels = {name: [level for level in values if level != ABSENT] for name, values in cases.levels.items()}
    codes = np.where(cases.codes < [len(values) for values in levels.values()], cases.codes, -1)  # ABSENT is the last
    return Grid(tuple(levels), levels, codes, np.array(blocks, dtype=np.int64), log_speed, tried)


def take_cases(grid: Grid, cases: Sequence[int]) -> Grid:
    """The grid of some of its cases, in this order, without levels that none of them has."""
    at = np.array(cases, dtype=np.intp)
    codes, levels = grid.codes[at].copy(), {}
    for place, name in enumerate(grid.factors):
        used = np.unique(codes[codes[:, place] >= 0, place])
        levels[name] = [grid.levels[name][code] for code in used]
        codes[:, place] = np.where(codes[:, place] < 0, -1, np.searchsorted(used, codes[:, place]))
    return Grid(grid.factors, levels, codes, grid.blocks, grid.log_speed[at], grid.tried[at])


def over_options(grid: Grid, choosers: Iterable[str]) -> Grid | None:
    """The grid with one case for all own options of these factors' levels (such as all mount options of a protocol):
    the mean of their log speeds in blocks that have them all.

    None if cases were not run with each of these options, as in a fraction: their means could not be compared.
    """
    whole: Grid | None = grid
    for chooser in choosers:
        whole = _over_options_of(whole, chooser) if whole else None
    return whole


@functools.lru_cache(maxsize=2)  # all contrasts of a factor ask for the same
def _over_options_of(grid: Grid, chooser: str) -> Grid | None:
    plain = [place for place, name in enumerate(grid.factors) if chooser_of(name, grid.levels) != chooser]
    if len(plain) == len(grid.factors):
        return grid
    options = [grid.factors.index(chooser), *(set(range(len(grid.factors))) - set(plain))]
    codes, row = np.unique(grid.codes[:, plain], axis=0, return_inverse=True)
    combinations = np.bincount(np.unique(grid.codes[:, options], axis=0)[:, 0])  # of options, by level of the chooser
    count = np.bincount(row)
    factors = tuple(grid.factors[place] for place in plain)
    if (count != combinations[codes[:, factors.index(chooser)]]).any():
        return None
    log_speed, tried = np.zeros((len(codes), len(grid.blocks))), np.zeros((len(codes), len(grid.blocks)), dtype=bool)
    np.add.at(log_speed, row, grid.log_speed)
    np.logical_or.at(tried, row, grid.tried)
    levels = {name: grid.levels[name] for name in factors}
    return Grid(factors, levels, codes, grid.blocks, log_speed / count[:, None], tried)


def _once(place: Codes, speed: Floats) -> Floats:
    """The speeds; several at one place are replaced by their median."""
    if len(place) == 0 or np.bincount(place).max() == 1:
        return speed
    return pd.Series(speed).groupby(place).transform("median").to_numpy()
