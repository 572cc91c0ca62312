"""All runs of a sweep in a dataset together: the tables of :mod:`lab.stats` of more trials than fit into memory.

Blocks of all runs are blocks alike, in the order in which the runs were added. The trials are read some files at a
time, each of which holds whole blocks, and every number is computed by the functions that compute it of a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab import stats
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.dataset.ceilings import link_ceilings
from lab.dataset.engine import SPEED, Engine, escape_paths, reserve
from lab.dataset.folder import Dataset
from lab.dataset.limits import count_limits
from lab.dataset.medians import CaseStatistics, order_cases
from lab.dataset.register import AGAIN, Levels, StoredFile, StoredRun, group_files
from lab.design.factors import ABSENT, CHOOSERS, DEFAULT, Level, owner_of
from lab.stats.effect_ratios import effect_contrasts, effect_table, interaction_contrasts, interaction_table
from lab.stats.factors import Cells
from lab.stats.grid_parts import compare_parts
from lab.stats.intervals import Floats
from lab.stats.link_ceilings import SETTING
from lab.stats.speed_matrix import Grid, of_rows
from lab.stats.summary_table import make_table

PART_ROWS = 1 << 20  # read at once, or those of one file
MOST_PLACES = 3  # that are named below a table
_SMALL = 1 << 23  # values that stand in memory: 64 MB; more stand in a file


@dataclass(frozen=True)
class Part:
    """Some trials of whole blocks, from ``first`` on: the cell and the block of each, and its speed in MB/s, NaN of one
    that does not count.
    """

    first: int
    blocks: int
    cell: npt.NDArray[np.signedinteger[Any]]
    block: npt.NDArray[np.int32]
    speed: Floats


class Pooled:
    """The runs of one sweep, each table computed when first asked for. Raises BadInput where files are not whole."""

    def __init__(self, engine: Engine, dataset: Dataset, sweep: str):
        self._engine, self._dataset, self.sweep = engine, dataset, sweep
        self.runs: list[StoredRun] = [run for run in dataset.register.runs.values() if run.sweep == sweep]
        if not self.runs:
            sweeps = ", ".join(dataset.sweeps) or "none"
            raise BadInput(
                f"{dataset.path}: has no run of the sweep {sweep}: it has {sweeps}", "`lab dataset add RUN…`"
            )
        self._files = sorted(dataset.register.of_sweep(sweep), key=lambda file: file.first_block)
        for file in self._files:
            dataset.check(file)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """See :func:`lab.stats.summary`."""
        numbers, cells = self._cells
        of_cell = [self._case_statistics[number] for number in np.array(numbers)[np.argsort(cells.cell)]]
        counts = np.array([one.counts for one in of_cell], dtype=np.int64).reshape(len(of_cell), -1).T
        speeds = [one.by_quantity["speed"] for one in of_cell]
        spreads = [(*speed.median_and_interval, speed.least, speed.most) for speed in speeds]
        shares = [one.by_quantity["share"].median_and_interval[0] for one in of_cell]
        return make_table(cells, list(counts), spreads, shares)

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
        encoded, numbers = self._encoded, np.array(list(self._levels))
        is_link = encoded.has("protocol", "link")
        parts = ([self._dataset.path_of(file) for file in files] for files in group_files(self._files, PART_ROWS))
        return link_ceilings(self._engine, parts, numbers[is_link], encoded.cells(SETTING, is_link))

    @cached_property
    def limits(self) -> pd.DataFrame:
        """What limited each case in how many runs: :func:`lab.dataset.limits.count_limits`."""
        numbers, cells = self._cells
        in_order = [numbers[place] for place in np.argsort(cells.cell)]
        cases = {number: self._levels[number] for number in in_order}
        files = self._dataset.register.of_sweep(self.sweep, "limits")
        return count_limits(self._engine, list(map(self._dataset.check, files)), cases)

    @property
    def unjudged(self) -> int:
        """How many runs were added by a lab that did not keep what limited their cases."""
        return sum(not run.is_judged for run in self.runs)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many transfers are ok, void and failed."""
        of_cases = [self._case_statistics[number].counts for number in self._cells[0]]
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

    @cached_property
    def _case_statistics(self) -> dict[int, CaseStatistics]:
        return order_cases(self._engine, self._dataset, self._files)

    @property
    def cells(self) -> Cells:
        """The cells of the transfers."""
        return self._cells[1]

    @cached_property
    def _cells(self) -> tuple[list[int], Cells]:
        """The numbers of the cases that moved a file in any trial, and the cells that these are."""
        encoded = self._encoded
        return [number for number, moved in zip(self._levels, encoded.moved, strict=True) if moved], encoded.cases

    @cached_property
    def _encoded(self) -> stats.Encoded:
        """All cases, as if each were a trial."""
        return stats.encode(pd.DataFrame(list(self._levels.values())).assign(anchor=False))

    @cached_property
    def _levels(self) -> dict[int, dict[str, Level]]:
        """The levels of every case by its number, the link's own among them, in ascending order."""
        cases = self._dataset.register.cases
        for number in self._case_statistics:
            if not 0 <= number < len(cases):
                raise self._foreign_value("case_number", number)
        options = sorted({option for run in self.runs for option in run.options})
        return {number: levels_of(cases[number], options) for number in sorted(self._case_statistics)}

    @cached_property
    def _grid(self) -> Grid:
        """The cases, without a block."""
        cells, none = self._cells[1], np.empty(0, dtype=np.intp)
        return of_rows(Cells(none, cells.levels, cells.codes), none, [], np.empty(0), np.empty(0, dtype=bool))

    def _parts(self) -> Iterator[Grid]:
        """The grid, some files at a time."""
        cells = self._cells[1]
        for part in self.parts():
            block = part.block - part.first
            is_there = np.bincount(block, minlength=part.blocks) > 0
            blocks = (part.first + np.flatnonzero(is_there)).tolist()
            of_cells = Cells(part.cell, cells.levels, cells.codes)
            yield of_rows(of_cells, (np.cumsum(is_there) - 1)[block], blocks, part.speed, part.speed > 0)

    def parts(self) -> Iterator[Part]:
        """The transfers, some files at a time; while one part is looked at, the next is read."""
        bunches = list(group_files(self._files, PART_ROWS))
        numbers, cells = self._cells
        cell_of = np.full(len(self._dataset.register.cases), -1)
        cell_of[numbers] = cells.cell
        with ThreadPoolExecutor(1) as reader:
            following = reader.submit(self._read, bunches[0], cell_of)
            for bunch in [*bunches[1:], None]:
                part = following.result()
                if bunch:
                    following = reader.submit(self._read, bunch, cell_of)
                yield part

    def _read(self, files: Sequence[StoredFile], cell_of: npt.NDArray[np.intp]) -> Part:
        source = escape_paths([self._dataset.path_of(file) for file in files])
        table = f"SELECT case_number, block_number, {SPEED} AS speed FROM read_parquet(?) WHERE NOT anchor"
        columns = self._engine.numbers(table, [source])
        first, end = files[0].first_block, files[-1].first_block + files[-1].blocks
        case, block = (np.ma.getdata(columns[name]) for name in ("case_number", "block_number"))
        speed = np.ma.filled(columns["speed"].astype(float), np.nan)
        self._check_range("case_number", case, 0, len(cell_of))
        self._check_range("block_number", block, first, end)
        cell = cell_of[case]
        if not (moved := cell >= 0).all():
            cell, block, speed = cell[moved], block[moved], speed[moved]
        return Part(first, end - first, cell, block, speed)

    def _check_range(self, column: str, values: npt.NDArray[np.int32], low: int, high: int) -> None:
        if len(values) and not (low <= values.min() and values.max() < high):
            outside = values[(values < low) | (values >= high)]
            raise self._foreign_value(column, int(outside[0]))

    def _foreign_value(self, column: str, value: Any) -> BadInput:
        """What no run had: in which file it stands."""
        query = f"SELECT 1 FROM read_parquet(?) WHERE {column} = ? LIMIT 1"
        for file in self._files:
            path = self._dataset.path_of(file)
            if self._engine.rows(query, [escape_paths([path]), value]):
                return BadInput(f"{path}: {column} {value}: no run that was added has it", AGAIN)
        return BadInput(f"{self._dataset.path}: {column} {value}: no run that was added has it", AGAIN)

    def _allocate(self, shape: tuple[int, int, int]) -> Floats:
        """Room for values: a large one is a file without a name, which goes when nothing uses it any more."""
        if np.prod(shape, dtype=float) <= _SMALL:
            return np.empty(shape)
        path = self._engine.scratch / "log_ratios"
        with path.open("wb") as file:
            reserve(file, 8 * int(np.prod(shape)))
        values = np.memmap(path, dtype=np.float64, mode="r+", shape=shape)
        path.unlink()
        return values


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def levels_of(case: Levels, options: Sequence[str]) -> dict[str, Level]:
    """The levels of a case, with those of options that other runs named: their default where it has such, else none."""
    owners = {case[name] for name in CHOOSERS}
    return {**{name: DEFAULT if owner_of(name) in owners else ABSENT for name in options}, **case}
