"""Log ratios within blocks: one number a block for each thing that is compared, by pairs or by a model.

A contrast is a few ``settings`` (levels of the compared factors) and signed sums over them: an effect is two settings
and (−1, 1), an interaction four settings and (1, −1, −1, 1).
"""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lab.design.factors import CHOOSERS, chooser_of
from lab.stats.factors import EVERY, Codes, Level
from lab.stats.intervals import Floats
from lab.stats.linear_model import mean_row, model_values
from lab.stats.speed_matrix import Grid, over_options
from lab.stats.two_way import column_means

PAIRS, MODEL = "pairs", "model"
PAIRED_AT_LEAST = 0.5


@dataclass(frozen=True)
class Blockwise:
    """One row of a table: where it holds (``at``), and (sums × blocks) its log ratios, NaN where a block has none."""

    at: dict[str, Level]
    log_ratios: Floats
    n_pairs: int
    method: str


@dataclass(frozen=True, eq=False)
class Contrast:
    """What is compared: its columns of a table, and signed sums over the log speeds at ``settings``.

    ``settings`` give codes of levels, the same factors in each.
    """

    named: dict[str, Level]
    settings: Sequence[Mapping[str, int]]
    signs: Floats

    @property
    def choosers(self) -> list[str]:
        """The factors of it whose levels have options of their own: these are compared over all options of each."""
        return [name for name in CHOOSERS if name in self.settings[0]]

    def open_factors(self, by: Sequence[str]) -> list[str]:
        """Those of ``by`` that it leaves open."""
        return [name for name in by if name not in self.settings[0]]


def blockwise(grid: Grid, contrast: Contrast, by: Sequence[str]) -> Iterator[Blockwise]:
    """The signed sums of a contrast, in every block: the overall row, and one a combination of ``by`` where there are
    several (``all`` for what is compared or averaged over).

    By pairs, each block counts the mean over all sets of cases that agree in every other factor. Where most cases have
    no such partners (a fraction of the grid), a model is fitted within each block instead; its rows are averaged over
    ``by``, but for effects one more row for each protocol. Protocols, tools and stores are compared over all options
    that each of them has.
    """
    alike = over_options(grid, contrast.choosers)
    if alike and is_paired(*count_partners(alike, contrast.settings, matches := match_cases(alike, contrast.settings))):
        ratios = pair_ratios(alike, matches, contrast.signs)
        overall = Blockwise({}, np.array([column_means(of_sum) for of_sum in ratios]), count_pairs(ratios), PAIRS)
        groups = group_pairs(alike, matches, contrast.open_factors(by))
        rows = [Blockwise(at, *group_means(ratios[:, of_row]), PAIRS) for at, of_row in groups]
    else:
        overall, *rows = by_model(grid, contrast, by)
        rows = [row for row in rows if np.isfinite(row.log_ratios).any()]
    for row in [overall, *(rows if len(rows) > 1 else [])]:
        yield replace(row, at={**dict.fromkeys(by, EVERY), **row.at})


def match_cases(grid: Grid, settings: Sequence[Mapping[str, int]]) -> Codes:
    """The cases at each of the settings that agree in every other factor, sorted by these (matches × settings)."""
    key = _number_partners(grid, tuple(settings[0]))
    matches = np.full((key.max(initial=-1) + 1, len(settings)), -1)
    for number, setting in enumerate(settings):
        cases = np.flatnonzero(_is_at(grid, setting))
        matches[key[cases], number] = cases
    return matches[(matches >= 0).all(axis=1)]


@functools.lru_cache(maxsize=1)  # the same for all levels of these factors, which come one after the other
def _number_partners(grid: Grid, factors: tuple[str, ...]) -> Codes:
    """A number for each case, the same in those that agree in every other factor, in the order of these."""
    others = [place for place, factor in enumerate(grid.factors) if factor not in factors]
    shape = [1 + len(grid.levels[grid.factors[place]]) for place in others]
    keys = np.ravel_multi_index(tuple(grid.codes[:, others].T + 1), shape)
    numbers: Codes = np.unique(keys, return_inverse=True)[1]
    return numbers


def _is_at(grid: Grid, setting: Mapping[str, int]) -> npt.NDArray[np.bool_]:
    matching: npt.NDArray[np.bool_] = np.all([grid.code(factor) == code for factor, code in setting.items()], axis=0)
    return matching


def count_partners(grid: Grid, settings: Sequence[Mapping[str, int]], matches: Codes) -> tuple[int, int]:
    """How many cases were tried at these settings, and how many of them had their partners in the same block."""
    tried = sum(int(grid.tried[_is_at(grid, setting)].sum()) for setting in settings)
    return tried, int(grid.tried[matches].all(axis=1).sum()) * len(settings)


def is_paired(tried: int, partnered: int) -> bool:
    """Whether at least half of the cases that were tried have their partners."""
    return partnered >= PAIRED_AT_LEAST * tried


def pair_ratios(grid: Grid, matches: Codes, signs: Floats) -> Floats:
    """The signed sums of each set of partners in each block (sums × matches × blocks), NaN where any is missing.

    A pair that a block lacks is counted, over all pairs, as what it is in others, moved as this block's pairs are: the
    mean of the others alone would jump by as much as pairs differ.
    """
    ratios = signs @ grid.log_speed[matches]  # matches × sums × blocks
    if len(signs) > 1:
        ratios[~np.broadcast_to(np.isfinite(ratios).all(axis=1, keepdims=True), ratios.shape)] = np.nan
    return ratios.swapaxes(0, 1)


def count_pairs(ratios: Floats) -> int:
    """How many pairs there are in all blocks, of :func:`pair_ratios`."""
    return int(np.isfinite(ratios[0]).sum())


def group_pairs(grid: Grid, matches: Codes, by: Sequence[str]) -> list[tuple[dict[str, Level], Codes]]:
    """The combinations of the levels of ``by`` that pairs have, and the matches of each."""
    if not len(matches):
        return []
    shape = [len(grid.levels[name]) for name in by]
    where = np.array([grid.code(name)[matches[:, 0]] for name in by]).reshape(len(by), len(matches))
    row = np.ravel_multi_index(tuple(where), shape) if by else np.zeros(len(matches), dtype=int)
    groups = [np.flatnonzero(row == number) for number in np.unique(row)]
    return [
        ({name: grid.levels[name][code] for name, code in zip(by, where[:, of_row[0]], strict=True)}, of_row)
        for of_row in groups
    ]


def group_means(ratios: Floats) -> tuple[Floats, int]:
    """The mean of pairs in each block (sums × blocks), and how many pairs there are in all."""
    present = np.isfinite(ratios)
    counts = present[0].sum(axis=0)
    means: Floats = np.where(present, ratios, 0).sum(axis=1) / np.where(counts > 0, counts, np.nan)
    return means, int(counts.sum())


def by_model(grid: Grid, contrast: Contrast, by: Sequence[str]) -> Iterator[Blockwise]:
    """Averaged over every other factor; and, where ``by`` asks and the model can tell, at each protocol.

    An option of a protocol is that of its own only. Two factors interact alike at every protocol: that is the model.
    """
    settings, signs = contrast.settings, contrast.signs
    places: list[dict[str, int]] = [{}]
    if "protocol" in contrast.open_factors(by) and "protocol" in grid.varied and len(signs) == 1:
        of_protocol = (chooser_of(name, grid.levels) == "protocol" for name in settings[0])
        places += [] if any(of_protocol) else _at_each(grid, "protocol")
    rows = [signs @ np.array([mean_row(grid, {**setting, **place}) for setting in settings]) for place in places]
    values = model_values(grid, np.vstack(rows)).reshape(len(places), len(signs), -1)
    for place, log_ratios in zip(places, values, strict=True):
        at = {name: grid.levels[name][code] for name, code in place.items()}
        yield Blockwise(at, log_ratios, 0, MODEL)


def _at_each(grid: Grid, factor: str) -> list[dict[str, int]]:
    return [{factor: code} for code in range(len(grid.levels[factor]))]


def level_pairs(grid: Grid, factor: str) -> list[tuple[int, int]]:
    """The codes of what is compared: the first level with each other one."""
    return list(itertools.product([0], range(1, len(grid.levels[factor]))))
