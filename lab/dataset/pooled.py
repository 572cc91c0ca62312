"""All runs of a sweep in a dataset together: the tables of :mod:`lab.stats` of more trials than fit into memory.

Blocks of all runs are blocks alike, in the order in which the runs were added. The trials are read some files at a
time, each of which holds whole blocks, and every number is computed by the functions that compute it of a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from lab import stats
from lab.base.untrusted import one_line
from lab.dataset.engine import reserve
from lab.dataset.frames import count_limits, file_rates, link_ceilings
from lab.dataset.medians import CaseStatistics
from lab.dataset.some_trials import some_of_each_case, store_frames
from lab.dataset.sweep_trials import SweepTrials
from lab.stats.anova import shares_in_parts
from lab.stats.contrasts import Contrast
from lab.stats.effect_ratios import effect_contrasts, effect_table, interaction_contrasts, interaction_table
from lab.stats.factors import Cells
from lab.stats.grid_parts import PartedRows, compare_parts
from lab.stats.intervals import Floats
from lab.stats.speed_matrix import Grid, of_rows
from lab.stats.statistics import PooledStatistics
from lab.stats.store_numbers import measurements_of
from lab.stats.summary_table import make_table

MOST_PLACES = 3  # that are named below a table
_SMALL = 1 << 23  # values that stand in memory: 64 MB; more stand in a file


def _summary(sweep: Pooled) -> pd.DataFrame:
    of_cell = sweep.of_cells
    counts = np.array([one.counts for one in of_cell], dtype=np.int64).reshape(len(of_cell), -1).T
    speeds = [one.by_quantity["speed"] for one in of_cell]
    spreads = [(*speed.median_and_interval, speed.least, speed.most) for speed in speeds]
    shares = [one.by_quantity["share"].median_and_interval[0] for one in of_cell]
    return make_table(sweep.cells, list(counts), spreads, shares)


def _shares(sweep: Pooled) -> stats.Shares:
    measured = np.array([one.by_quantity["speed"].most > 0 for one in sweep.of_cells], dtype=bool)
    return shares_in_parts(sweep.grid, measured, sweep.grid_parts())


def _effects(sweep: Pooled) -> pd.DataFrame:
    parted = sweep.compare(list(effect_contrasts(sweep.grid)))
    return effect_table(parted.rows, log_ratios=parted.log_ratios)


def _interactions(sweep: Pooled) -> pd.DataFrame:
    parted = sweep.compare(list(interaction_contrasts(sweep.grid)))
    return interaction_table(parted.rows, log_ratios=parted.log_ratios)


def _limits(sweep: Pooled) -> pd.DataFrame:
    cases = {number: sweep.levels[number] for number in sweep.cases}
    files = sweep.dataset.register.of_sweep(sweep.sweep, "limits")
    return count_limits(sweep.engine, list(map(sweep.dataset.check, files)), cases)


class Pooled(SweepTrials, PooledStatistics):
    """The runs of one sweep, each frame computed when first asked for. Raises BadInput where files are not whole."""

    summary = cached_property(_summary)
    shares = cached_property(_shares)
    effects = cached_property(_effects)
    interactions = cached_property(_interactions)
    some = cached_property(some_of_each_case)
    file_rates = cached_property(lambda self: file_rates(self, lambda: self.some))
    ceilings = cached_property(link_ceilings)
    limits = cached_property(_limits)
    # all of them are in memory, some 110 bytes each
    store_measurements = cached_property(lambda self: measurements_of(store_frames(self)))
    run_count = cached_property(lambda self: len(self.runs))
    unjudged = cached_property(lambda self: sum(not run.is_judged for run in self.runs))

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many transfers are ok, void and failed."""
        of_cases = [one.counts for one in self.of_cells]
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
    def of_cells(self) -> list[CaseStatistics]:
        """What is known of the case of each cell."""
        return [self.case_statistics[number] for number in self.cases]

    @cached_property
    def grid(self) -> Grid:
        """The cases, without a block."""
        cells, none = self.cells, np.empty(0, dtype=np.intp)
        return of_rows(Cells(none, cells.levels, cells.codes), none, [], np.empty(0), np.empty(0, dtype=bool))

    def grid_parts(self) -> Iterator[Grid]:
        """The grid, some files at a time."""
        cells = self.cells
        for part in self.parts():
            block = part.block - part.first
            is_there = np.bincount(block, minlength=part.blocks) > 0
            blocks = (part.first + np.flatnonzero(is_there)).tolist()
            of_cells = Cells(part.cell, cells.levels, cells.codes)
            yield of_rows(of_cells, (np.cumsum(is_there) - 1)[block], blocks, part.speed, part.speed > 0)

    def compare(self, contrasts: Sequence[Contrast]) -> PartedRows:
        """The rows of contrasts over all blocks."""
        return compare_parts(self.grid, self.grid_parts, contrasts, stats.POOLED, self._allocate)

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
