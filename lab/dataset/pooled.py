"""All runs of a sweep in a dataset together: the tables of :mod:`lab.stats` of more trials than fit into memory.

Blocks of all runs are blocks alike, in the order in which the runs were added. The trials are read some files at a
time, each of which holds whole blocks, and every number is computed by the functions that compute it of a frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pandas as pd

from lab import stats
from lab.base.untrusted import one_line
from lab.dataset.ceilings import link_ceilings
from lab.dataset.engine import reserve
from lab.dataset.file_rates import file_rates
from lab.dataset.limits import count_limits
from lab.dataset.medians import CaseStatistics
from lab.dataset.some_trials import some_of_each_case
from lab.dataset.stores import store_frames
from lab.dataset.sweep_trials import SweepTrials
from lab.stats.anova import shares_in_parts
from lab.stats.effect_ratios import effect_contrasts, effect_table, interaction_contrasts, interaction_table
from lab.stats.factors import Cells
from lab.stats.grid_parts import compare_parts
from lab.stats.intervals import Floats
from lab.stats.link_ceilings import SETTING
from lab.stats.speed_matrix import Grid, of_rows
from lab.stats.store_effects import store_effects_of
from lab.stats.store_numbers import measurements_of, store_numbers_of
from lab.stats.summary_table import make_table
from lab.stats.waterfall import waterfall

MOST_PLACES = 3  # that are named below a table
_SMALL = 1 << 23  # values that stand in memory: 64 MB; more stand in a file


class Pooled(SweepTrials):
    """The runs of one sweep, each table computed when first asked for. Raises BadInput where files are not whole."""

    @cached_property
    def summary(self) -> pd.DataFrame:
        """See :func:`lab.stats.summary`."""
        of_cell = self._of_cells
        counts = np.array([one.counts for one in of_cell], dtype=np.int64).reshape(len(of_cell), -1).T
        speeds = [one.by_quantity["speed"] for one in of_cell]
        spreads = [(*speed.median_and_interval, speed.least, speed.most) for speed in speeds]
        shares = [one.by_quantity["share"].median_and_interval[0] for one in of_cell]
        return make_table(self.cells, list(counts), spreads, shares)

    @cached_property
    def file_rates(self) -> pd.DataFrame:
        """See :func:`lab.stats.file_rates`."""
        return file_rates(self, lambda: self.some)

    @cached_property
    def some(self) -> pd.DataFrame:
        """See :func:`lab.dataset.some_trials.some_of_each_case`."""
        return some_of_each_case(self)

    @cached_property
    def shares(self) -> stats.Shares:
        """See :func:`lab.stats.shares`."""
        measured = np.array([one.by_quantity["speed"].most > 0 for one in self._of_cells], dtype=bool)
        return shares_in_parts(self._grid, measured, self._parts())

    @cached_property
    def store_numbers(self) -> pd.DataFrame:
        """See :func:`lab.stats.store_numbers.store_numbers`."""
        return store_numbers_of(self._measurements)

    @cached_property
    def store_effects(self) -> pd.DataFrame:
        """See :func:`lab.stats.store_effects.store_effects`."""
        return store_effects_of(self._measurements)

    @cached_property
    def waterfall(self) -> pd.DataFrame:
        """See :func:`lab.stats.waterfall.waterfall`."""
        return waterfall(self.summary, self.ceilings, self.store_numbers, self.some)

    @cached_property
    def effects(self) -> pd.DataFrame:
        """See :func:`lab.stats.effects`."""
        contrasts = list(effect_contrasts(self._grid))
        parted = compare_parts(self._grid, self._parts, contrasts, stats.POOLED, self._allocate)
        return effect_table(parted.rows, log_ratios=parted.log_ratios)

    @cached_property
    def interactions(self) -> pd.DataFrame:
        """See :func:`lab.stats.interactions`."""
        contrasts = list(interaction_contrasts(self._grid))
        parted = compare_parts(self._grid, self._parts, contrasts, stats.POOLED, self._allocate)
        return interaction_table(parted.rows, log_ratios=parted.log_ratios)

    @cached_property
    def ceilings(self) -> pd.DataFrame:
        """See :func:`lab.stats.ceilings`."""
        encoded, numbers = self.encoded, np.array(list(self.levels))
        is_link = encoded.has("protocol", "link")
        return link_ceilings(
            self.engine, map(self.source, self.bunches()), numbers[is_link], encoded.cells(SETTING, is_link)
        )

    @cached_property
    def limits(self) -> pd.DataFrame:
        """What limited each case in how many runs: :func:`lab.dataset.limits.count_limits`."""
        cases = {number: self.levels[number] for number in self.cases}
        files = self.dataset.register.of_sweep(self.sweep, "limits")
        return count_limits(self.engine, list(map(self.dataset.check, files)), cases)

    @property
    def unjudged(self) -> int:
        """How many runs were added by a lab that did not keep what limited their cases."""
        return sum(not run.is_judged for run in self.runs)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many transfers are ok, void and failed."""
        of_cases = [one.counts for one in self._of_cells]
        return dict(zip(("ok", "void", "failed"), map(sum, zip(*of_cases, strict=True)), strict=False))

    @property
    def where(self) -> list[str]:
        """Where it was measured, each place once: has to stand with every number (:func:`lab.stats.provenance`)."""
        return list(dict.fromkeys(run.where for run in self.runs if run.where))

    @property
    def provenance(self) -> tuple[str, str]:
        """Where it was measured, and of how much the numbers are."""
        blocks = sum(run.blocks for run in self.runs)
        counts = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        facts = [f"sweep {self.sweep}", _count(len(self.runs), "run"), f"n = {counts}", _count(blocks, "block")]
        places = [
            *self.where[:MOST_PLACES],
            *([f"{len(self.where):,} places"] if len(self.where) > MOST_PLACES else []),
        ]
        differing = ["not all of one place: what differs between them is in the numbers"] if len(places) > 1 else []
        return one_line(" / ".join([*differing, *places])), one_line(" · ".join(facts))

    @property
    def _of_cells(self) -> list[CaseStatistics]:
        return [self.case_statistics[number] for number in self.cases]

    @cached_property
    def _measurements(self) -> pd.DataFrame:
        """See :func:`lab.stats.store_numbers.measurements`: all of them are in memory, some 110 bytes each."""
        return measurements_of(store_frames(self))

    @cached_property
    def _grid(self) -> Grid:
        """The cases, without a block."""
        cells, none = self.cells, np.empty(0, dtype=np.intp)
        return of_rows(Cells(none, cells.levels, cells.codes), none, [], np.empty(0), np.empty(0, dtype=bool))

    def _parts(self) -> Iterator[Grid]:
        """The grid, some files at a time."""
        cells = self.cells
        for part in self.parts():
            block = part.block - part.first
            is_there = np.bincount(block, minlength=part.blocks) > 0
            blocks = (part.first + np.flatnonzero(is_there)).tolist()
            of_cells = Cells(part.cell, cells.levels, cells.codes)
            yield of_rows(of_cells, (np.cumsum(is_there) - 1)[block], blocks, part.speed, part.speed > 0)

    def _allocate(self, shape: tuple[int, int, int]) -> Floats:
        """Room for values: a large one is a file without a name, which goes when nothing uses it any more."""
        if np.prod(shape, dtype=float) <= _SMALL:
            return np.empty(shape)
        path = self.engine.scratch / "log_ratios"
        with path.open("wb") as file:
            reserve(file, 8 * int(np.prod(shape)))
        values = np.memmap(path, dtype=np.float64, mode="r+", shape=shape)
        path.unlink()
        return values


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"
