"""All runs of a sweep in a dataset together: the tables of :mod:`lab.stats` for more trials than fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
import pandas as pd

from lab import stats
from lab.base.untrusted import one_line
from lab.dataset.engine import reserve
from lab.dataset.frames import count_limits, file_rates, link_ceilings, some_of_each_case, store_frames
from lab.dataset.medians import CaseStatistics
from lab.dataset.sweep_trials import SweepTrials
from lab.stats.anova import shares_in_parts
from lab.stats.contrasts import Contrast, compare_parts
from lab.stats.effect_ratios import effect_contrasts, effect_table, interaction_contrasts, interaction_table
from lab.stats.factors import Cells
from lab.stats.intervals import Floats
from lab.stats.speed_matrix import Grid, of_rows
from lab.stats.statistics import PooledStatistics
from lab.stats.store_numbers import measurements_of
from lab.stats.summary_table import STATUS, make_table

MOST_PLACES = 3  # named below a table
_SMALL = 1 << 23  # values that are kept in memory: 64 MB; more go into a file


def _summary(sweep: Pooled) -> pd.DataFrame:
    cells = sweep.cell_statistics
    counts = np.array([cell.counts for cell in cells], dtype=np.int64).reshape(len(cells), -1).T
    speeds = [cell.by_quantity["speed"] for cell in cells]
    spreads = [(*speed.median_and_interval, speed.least, speed.most) for speed in speeds]
    shares = [cell.by_quantity["share"].median_and_interval[0] for cell in cells]
    return make_table(sweep.encoded.cases, list(counts), spreads, shares)


def _shares(sweep: Pooled) -> stats.Shares:
    measured = np.array([cell.by_quantity["speed"].most > 0 for cell in sweep.cell_statistics], dtype=bool)
    return shares_in_parts(sweep.grid, measured, sweep.grid_parts())


def _compared(sweep: Pooled, contrasts: Iterator[Contrast], table: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    rows, log_ratios = compare_parts(sweep.grid, sweep.grid_parts, list(contrasts), stats.POOLED, sweep.allocate)
    return table(rows, log_ratios=log_ratios)


def _limits(sweep: Pooled) -> pd.DataFrame:
    cases = {number: sweep.levels[number] for number in sweep.cases}
    files = sweep.dataset.register.of_sweep(sweep.sweep, "limits")
    return count_limits(sweep.engine, list(map(sweep.dataset.check, files)), cases)


class Pooled(SweepTrials, PooledStatistics):
    """The runs of one sweep, each frame computed when first asked for. Raises BadInput where files are not whole."""

    summary = cached_property(_summary)
    shares = cached_property(_shares)
    effects = cached_property(lambda self: _compared(self, effect_contrasts(self.grid), effect_table))
    interactions = cached_property(lambda self: _compared(self, interaction_contrasts(self.grid), interaction_table))
    some = cached_property(some_of_each_case)
    file_rates = cached_property(lambda self: file_rates(self, lambda: self.some))
    ceilings = cached_property(link_ceilings)
    limits = cached_property(_limits)
    # all in memory, about 110 bytes each
    store_measurements = cached_property(lambda self: measurements_of(store_frames(self)))
    run_count = cached_property(lambda self: len(self.runs))
    unjudged = cached_property(lambda self: sum(not run.is_judged for run in self.runs))

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of transfers by STATUS."""
        counts = zip(*(cell.counts for cell in self.cell_statistics), strict=True)
        return dict(zip(STATUS, map(sum, counts), strict=False))

    @property
    def where(self) -> list[str]:
        """The places where it was measured, each once."""
        return list(dict.fromkeys(run.where for run in self.runs if run.where))

    @property
    def provenance(self) -> tuple[str, str]:
        """Where it was measured, and how much data the numbers have; both stand with every number."""
        blocks = sum(run.blocks for run in self.runs)
        counts = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        facts = [f"sweep {self.sweep}", _count(len(self.runs), "run"), f"n = {counts}", _count(blocks, "block")]
        count = len(self.where)
        places = [*self.where[:MOST_PLACES], *([f"{count:,} places"] if count > MOST_PLACES else [])]
        differing = ["not all of one place: what differs between them is in the numbers"] if len(places) > 1 else []
        return one_line(" / ".join([*differing, *places])), one_line(" · ".join(facts))

    @property
    def cell_statistics(self) -> list[CaseStatistics]:
        """The statistics of each cell's case."""
        return [self.case_statistics[number] for number in self.cases]

    @cached_property
    def grid(self) -> Grid:
        """The cases, without blocks."""
        cells, none = self.encoded.cases, np.empty(0, dtype=np.intp)
        return of_rows(Cells(none, cells.levels, cells.codes), none, [], np.empty(0), np.empty(0, dtype=bool))

    def grid_parts(self) -> Iterator[Grid]:
        """The grid, some files at a time."""
        cells = self.encoded.cases
        for part in self.parts():
            block = part.block - part.first
            is_there = np.bincount(block, minlength=part.blocks) > 0
            blocks = (part.first + np.flatnonzero(is_there)).tolist()
            trials = Cells(part.cell, cells.levels, cells.codes)
            yield of_rows(trials, (np.cumsum(is_there) - 1)[block], blocks, part.speed, part.speed > 0)

    def allocate(self, shape: tuple[int, int, int]) -> Floats:
        """Room for values: in memory, or for many in a file without a name, which goes when its last user does."""
        if np.prod(shape, dtype=float) <= _SMALL:
            return np.empty(shape)
        path = self.engine.scratch / "log_ratios"
        with path.open("wb") as file:
            reserve(file, 8 * int(np.prod(shape)))
        values = np.memmap(path, dtype=np.float64, mode="r+", shape=shape)
        path.unlink()
        return values


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"
