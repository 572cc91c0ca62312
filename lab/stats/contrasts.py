"""Log ratios within blocks: each comparison has one number a block, by pairs or by a model.

A contrast is a few ``settings`` (levels of the compared factors) and signed sums over them: an effect is two settings
and (−1, 1), an interaction four settings and (1, −1, −1, 1).

A large grid may come in parts, each with some of its blocks, which are read twice. The first time gives the sums over
all blocks: how many cases have partners, and what least squares need. The second time gives the values of each block.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lab.design.factors import CHOOSERS, chooser_of
from lab.stats.factors import EVERY, Codes, Level
from lab.stats.intervals import Floats
from lab.stats.linear_model import mean_row, model_values
from lab.stats.speed_matrix import Grid, over_options
from lab.stats.two_way import RowsInParts, column_means, column_means_by, let_go

PAIRS, MODEL = "pairs", "model"
PAIRED_AT_LEAST = 0.5
Parts = Callable[[], Iterable[Grid]]  # gives the parts of a grid from the first on, each time it is called
Room = Callable[[tuple[int, int, int]], Floats]  # makes room for an array of this shape, in memory or in a file


@dataclass(frozen=True)
class Blockwise:
    """One row of a table: where it holds (``at``), and (sums × blocks) its log ratios, NaN where a block has none."""

    at: dict[str, Level]
    log_ratios: Floats
    n_pairs: int
    method: str


Compared = tuple[dict[str, Level], Blockwise]  # the columns that name a comparison, and its row


@dataclass(frozen=True, eq=False)
class Contrast:
    """Signed sums over log speeds at ``settings`` (codes of the same factors), and columns that name the comparison."""

    named: dict[str, Level]
    settings: Sequence[Mapping[str, int]]
    signs: Floats

    @property
    def choosers(self) -> list[str]:
        """The compared factors whose levels have options of their own; they are compared over all these options."""
        return [name for name in CHOOSERS if name in self.settings[0]]

    def open_factors(self, by: Sequence[str]) -> list[str]:
        """The factors of ``by`` that the settings leave open."""
        return [name for name in by if name not in self.settings[0]]


def blockwise(grid: Grid, contrast: Contrast, by: Sequence[str]) -> Iterator[Blockwise]:
    """The signed sums of a contrast in every block: the overall row, then one row a combination of ``by`` if there are
    several (``all`` in the columns of compared and averaged factors).

    By pairs, a block has the mean over all sets of cases that agree in every other factor. If most cases have no such
    partners (a fraction of the grid), a model is fitted within each block. Its rows are averaged over ``by``; effects
    have one more row for each protocol. Protocols, tools and stores are compared over all their own options.
    """
    alike = over_options(grid, contrast.choosers)
    if alike and is_paired(*count_partners(alike, contrast.settings, matches := match_cases(alike, contrast.settings))):
        ratios = pair_ratios(alike, matches, contrast.signs)
        n_pairs = int(np.isfinite(ratios[0]).sum())
        rows = [Blockwise({}, np.array([column_means(of_sum) for of_sum in ratios]), n_pairs, PAIRS)]
        groups = group_pairs(alike, matches, contrast.open_factors(by))
        rows += [Blockwise(at, *group_means(ratios[:, of_row]), PAIRS) for at, of_row in groups]
    else:
        rows = list(by_model(grid, contrast, by))
    yield from (row for _, row in shown_rows(rows, by))


def shown_rows(rows: Sequence[Blockwise], by: Sequence[str]) -> list[tuple[int, Blockwise]]:
    """The rows that a table shows, with their places: the overall row, and the others if several have values."""
    others = [
        place for place, row in enumerate(rows) if place and (row.method == PAIRS or np.isfinite(row.log_ratios).any())
    ]
    shown = [0, *(others if len(others) > 1 else [])]
    return [(place, replace(rows[place], at={**dict.fromkeys(by, EVERY), **rows[place].at})) for place in shown]


def match_cases(grid: Grid, settings: Sequence[Mapping[str, int]]) -> Codes:
    """Sets of cases, one at each setting, that agree in every other factor, sorted by these (matches × settings)."""
    key = _number_partners(grid, tuple(settings[0]))
    matches = np.full((key.max(initial=-1) + 1, len(settings)), -1)
    for number, setting in enumerate(settings):
        cases = np.flatnonzero(_is_at(grid, setting))
        matches[key[cases], number] = cases
    return matches[(matches >= 0).all(axis=1)]


@functools.lru_cache(maxsize=1)  # all levels of the same factors follow one another
def _number_partners(grid: Grid, factors: tuple[str, ...]) -> Codes:
    """A number for each case; cases that agree in every other factor share it. In the order of these factors."""
    others = [place for place, factor in enumerate(grid.factors) if factor not in factors]
    shape = [1 + len(grid.levels[grid.factors[place]]) for place in others]
    keys = np.ravel_multi_index(tuple(grid.codes[:, others].T + 1), shape)
    return np.unique(keys, return_inverse=True)[1]


def _is_at(grid: Grid, setting: Mapping[str, int]) -> npt.NDArray[np.bool_]:
    matching: npt.NDArray[np.bool_] = np.all([grid.code(factor) == code for factor, code in setting.items()], axis=0)
    return matching


def count_partners(grid: Grid, settings: Sequence[Mapping[str, int]], matches: Codes) -> tuple[int, int]:
    """How many cases were tried at these settings, and how many of them had partners in the same block."""
    tried = sum(int(grid.tried[_is_at(grid, setting)].sum()) for setting in settings)
    return tried, int(grid.tried[matches].all(axis=1).sum()) * len(settings)


def is_paired(tried: int, partnered: int) -> bool:
    """Whether at least half of the tried cases have partners."""
    return partnered >= PAIRED_AT_LEAST * tried


def pair_ratios(grid: Grid, matches: Codes, signs: Floats) -> Floats:
    """The signed sums of each set of partners in each block (sums × matches × blocks), NaN where any is missing."""
    ratios = signs @ grid.log_speed[matches]  # matches × sums × blocks
    if len(signs) > 1:
        ratios[~np.broadcast_to(np.isfinite(ratios).all(axis=1, keepdims=True), ratios.shape)] = np.nan
    return ratios.swapaxes(0, 1)


def group_pairs(grid: Grid, matches: Codes, by: Sequence[str]) -> list[tuple[dict[str, Level], Codes]]:
    """The combinations of levels of ``by`` that pairs have, and the matches of each."""
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
    """The contrast averaged over every other factor and, if ``by`` asks and the model can tell, at each protocol."""
    settings, signs = contrast.settings, contrast.signs
    places: list[dict[str, int]] = [{}]
    if "protocol" in contrast.open_factors(by) and "protocol" in grid.varied and len(signs) == 1:
        of_protocol = (chooser_of(name, grid.levels) == "protocol" for name in settings[0])
        places += [] if any(of_protocol) else [{"protocol": code} for code in range(len(grid.levels["protocol"]))]
    rows = [signs @ np.array([mean_row(grid, {**setting, **place}) for setting in settings]) for place in places]
    values = model_values(grid, np.vstack(rows)).reshape(len(places), len(signs), -1)
    for place, log_ratios in zip(places, values, strict=True):
        yield Blockwise({name: grid.levels[name][code] for name, code in place.items()}, log_ratios, 0, MODEL)


def compare_parts(
    cases: Grid, parts: Parts, contrasts: Sequence[Contrast], by: Sequence[str], room: Room
) -> tuple[list[Compared], Floats]:
    """The rows of contrasts as by :func:`blockwise`, and their values as one array (rows × sums × blocks)."""
    parted = [_PartedContrast(cases, contrast, by) for contrast in contrasts]
    blocks = 0
    for part in parts():
        blocks += len(part.blocks)
        for in_parts in parted:
            in_parts.count(part)
    rows = [in_parts.make_rows(cases) for in_parts in parted]
    log_ratios = room((sum(map(len, rows)), max((len(contrast.signs) for contrast in contrasts), default=1), blocks))
    begin = 0
    for part in parts():
        end = begin + len(part.blocks)
        for place, values in enumerate(values for contrast in parted for values in contrast.values(part)):
            log_ratios[place, :, begin:end] = values
        begin = end
        let_go(log_ratios)
    compared: list[Compared] = []
    kept: list[int] = []
    begin = 0
    for contrast, of_contrast in zip(contrasts, rows, strict=True):
        filled = [replace(row, log_ratios=log_ratios[place]) for place, row in enumerate(of_contrast, begin)]
        for place, row in shown_rows(filled, by):
            compared.append((contrast.named, row))
            kept.append(begin + place)
        begin += len(filled)
    return compared, log_ratios if len(kept) == len(log_ratios) else log_ratios[kept]


class _PartedContrast:
    """One contrast over all parts."""

    def __init__(self, cases: Grid, contrast: Contrast, by: Sequence[str]):
        self._contrast, self._by = contrast, by
        self._rows: list[Blockwise] = []
        self._tried = self._partnered = 0
        alike = over_options(cases, contrast.choosers)
        self._can_pair = alike is not None
        if alike:
            self._matches = match_cases(alike, contrast.settings)
            groups = group_pairs(alike, self._matches, contrast.open_factors(by))
            self._groups = groups if len(groups) > 1 else []
            self._pairs_by_row = [0] * (1 + len(self._groups))
            self._sums = [RowsInParts(len(self._matches)) for _ in contrast.signs]

    def count(self, part: Grid) -> None:
        """First reading: add a part to the sums."""
        if not (alike := over_options(part, self._contrast.choosers)):
            return
        tried, partnered = count_partners(alike, self._contrast.settings, self._matches)
        self._tried, self._partnered = self._tried + tried, self._partnered + partnered
        ratios = pair_ratios(alike, self._matches, self._contrast.signs)
        for sums, of_sum in zip(self._sums, ratios, strict=True):
            sums.add(of_sum)
        present = np.isfinite(ratios[0]).sum(axis=1)
        self._pairs_by_row[0] += int(present.sum())
        for number, (_, of_row) in enumerate(self._groups, 1):
            self._pairs_by_row[number] += int(present[of_row].sum())

    def make_rows(self, cases: Grid) -> list[Blockwise]:
        """Between both readings: the rows, still without values."""
        if self._can_pair and is_paired(self._tried, self._partnered):
            none = np.empty((len(self._contrast.signs), 0))
            pairs = zip([{}, *(at for at, _ in self._groups)], self._pairs_by_row, strict=True)
            self._rows = [Blockwise(at, none, n_pairs, PAIRS) for at, n_pairs in pairs]
            self._effects = [sums.solve() for sums in self._sums]
        else:
            self._rows = list(by_model(cases, self._contrast, self._by))
        return self._rows

    def values(self, part: Grid) -> Iterator[Floats]:
        """Second reading: the values of each row in a part (sums × blocks)."""
        alike = over_options(part, self._contrast.choosers)
        if alike is None or self._rows[0].method != PAIRS:
            yield from (row.log_ratios for row in by_model(part, self._contrast, self._by))
            return
        ratios = pair_ratios(alike, self._matches, self._contrast.signs)
        yield np.array([column_means_by(*of_sum) for of_sum in zip(ratios, self._effects, strict=True)])
        for _, of_row in self._groups:
            yield group_means(ratios[:, of_row])[0]
