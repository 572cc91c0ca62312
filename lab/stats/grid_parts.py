"""Contrasts of a grid that comes in parts, each of some of its blocks: nothing here is as large as the whole grid.

The parts are gone through twice. What depends on all blocks is a few sums, which the first time gives: how many cases
have their partners, and what least squares need to know of pairs that some blocks lack. The second time gives the
values of each block, by the functions that :mod:`lab.stats.contrasts` computes a whole grid with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.stats.contrasts import (
    PAIRS,
    Blockwise,
    Contrast,
    by_model,
    count_partners,
    group_means,
    group_pairs,
    is_paired,
    match_cases,
    pair_ratios,
)
from lab.stats.effect_ratios import Compared
from lab.stats.factors import EVERY, Level
from lab.stats.intervals import Floats
from lab.stats.speed_matrix import Grid, over_options
from lab.stats.two_way import RowsInParts, column_means_by, let_go

Parts = Callable[[], Iterable[Grid]]
"""Gives the parts of a grid from the first on, each time it is called."""
Room = Callable[[tuple[int, int, int]], Floats]
"""Makes room for an array of this shape, in memory or in a file."""


@dataclass(frozen=True)
class PartedRows:
    """Rows as :func:`lab.stats.contrasts.blockwise` gives them, and the array that their values stand in (rows × sums ×
    blocks).
    """

    rows: list[Compared]
    log_ratios: Floats


def compare_parts(
    cases: Grid, parts: Parts, contrasts: Sequence[Contrast], by: Sequence[str], room: Room
) -> PartedRows:
    """The rows of contrasts, which have as many sums each. ``cases`` is the grid without blocks."""
    parted = [_Parted(cases, contrast, by) for contrast in contrasts]
    blocks = 0
    for part, alike in _with_alike(parts, parted):
        blocks += len(part.blocks)
        for one in parted:
            one.count(alike[tuple(one.contrast.choosers)])
    rows = [row for one in parted for row in one.rows_of(cases)]
    log_ratios = room((len(rows), max((len(contrast.signs) for contrast in contrasts), default=1), blocks))
    begin = 0
    for part, alike in _with_alike(parts, parted):
        end = begin + len(part.blocks)
        every = (values for one in parted for values in one.values(part, alike[tuple(one.contrast.choosers)]))
        for row, values in enumerate(every):
            log_ratios[row, :, begin:end] = values
        begin = end
        let_go(log_ratios)
    return _shown(parted, log_ratios, by)


def _with_alike(parts: Parts, parted: Sequence[_Parted]) -> Iterator[tuple[Grid, dict[tuple[str, ...], Grid | None]]]:
    """Each part, and what it is with one case for all options of some factors, by these."""
    every = dict.fromkeys(tuple(one.contrast.choosers) for one in parted)
    for part in parts():
        yield part, {choosers: over_options(part, choosers) for choosers in every}


def _shown(parted: Sequence[_Parted], log_ratios: Floats, by: Sequence[str]) -> PartedRows:
    """The rows that a table has: of a model, those that it can tell."""
    shown: list[Compared] = []
    kept: list[int] = []
    number = 0
    for one in parted:
        numbers = range(number, number := number + len(one.rows))
        estimable = [
            place for place in numbers[1:] if one.rows[0].method == PAIRS or np.isfinite(log_ratios[place]).any()
        ]
        for place in (numbers[0], *(estimable if len(estimable) > 1 else [])):
            row = one.rows[place - numbers[0]]
            at = {**dict.fromkeys(by, EVERY), **row.at}
            shown.append((one.contrast.named, replace(row, at=at, log_ratios=log_ratios[place])))
            kept.append(place)
    return PartedRows(shown, log_ratios if len(kept) == len(log_ratios) else log_ratios[kept])


class _Parted:
    """One contrast over all parts."""

    def __init__(self, cases: Grid, contrast: Contrast, by: Sequence[str]):
        self.contrast, self.by = contrast, by
        self.rows: list[Blockwise] = []
        self._tried = self._partnered = 0
        if alike := over_options(cases, contrast.choosers):
            self._matches = match_cases(alike, contrast.settings)
            groups = group_pairs(alike, self._matches, contrast.open_factors(by))
            self._groups = groups if len(groups) > 1 else []
            self._pairs_by_row = [0] * (1 + len(self._groups))
            self._holes = [RowsInParts(len(self._matches)) for _ in contrast.signs]
        self._can_pair = alike is not None

    def count(self, alike: Grid | None) -> None:
        """The first time: take a part in."""
        if alike is None:
            return
        tried, partnered = count_partners(alike, self.contrast.settings, self._matches)
        self._tried, self._partnered = self._tried + tried, self._partnered + partnered
        ratios = pair_ratios(alike, self._matches, self.contrast.signs)
        for holes, of_sum in zip(self._holes, ratios, strict=True):
            holes.add(of_sum)
        present = np.isfinite(ratios[0]).sum(axis=1)
        self._pairs_by_row[0] += int(present.sum())
        for number, (_, of_row) in enumerate(self._groups, 1):
            self._pairs_by_row[number] += int(present[of_row].sum())

    def rows_of(self, cases: Grid) -> list[Blockwise]:
        """Between both times: the rows that it has, without their values."""
        if self._can_pair and is_paired(self._tried, self._partnered):
            places: list[dict[str, Level]] = [{}, *(at for at, _ in self._groups)]
            none = np.empty((len(self.contrast.signs), 0))
            pairs = zip(places, self._pairs_by_row, strict=True)
            self.rows = [Blockwise(at, none, n_pairs, PAIRS) for at, n_pairs in pairs]
            self._effects = [holes.solve() for holes in self._holes]
        else:
            self.rows = list(by_model(cases, self.contrast, self.by))
        return self.rows

    def values(self, part: Grid, alike: Grid | None) -> Iterator[Floats]:
        """The second time: the values of each row in a part (sums × blocks)."""
        if alike is None or self.rows[0].method != PAIRS:
            yield from (row.log_ratios for row in by_model(part, self.contrast, self.by))
            return
        ratios = pair_ratios(alike, self._matches, self.contrast.signs)
        yield np.array([column_means_by(*of_sum) for of_sum in zip(ratios, self._effects, strict=True)])
        for _, of_row in self._groups:
            yield group_means(ratios[:, of_row])[0]
