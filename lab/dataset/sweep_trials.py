"""The runs of one sweep of a dataset: their cases, and their trials some files at a time. Files hold whole blocks."""

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
from lab.dataset.engine import SPEED, Engine, escape_paths
from lab.dataset.folder import Dataset
from lab.dataset.medians import CaseStatistics, order_cases
from lab.dataset.register import AGAIN, StoredFile, StoredRun, Table, group_files
from lab.design.factors import ABSENT, CHOOSERS, DEFAULT, Level, owner_of
from lab.stats.factors import FACTORS
from lab.stats.intervals import Floats

PART_ROWS = 1 << 20  # read at once; or one larger file


@dataclass(frozen=True)
class Part:
    """Trials of ``blocks`` whole blocks from ``first`` on: cell, block, and speed in MB/s (NaN if not good)."""

    first: int
    blocks: int
    cell: npt.NDArray[np.signedinteger[Any]]
    block: npt.NDArray[np.int32]
    speed: Floats


class SweepTrials:
    """The runs of one sweep, each fact computed when first asked for. Raises BadInput if files are not whole."""

    def __init__(self, engine: Engine, dataset: Dataset, sweep: str):
        self.engine, self.dataset, self.sweep = engine, dataset, sweep
        self.runs: list[StoredRun] = [run for run in dataset.register.runs.values() if run.sweep == sweep]
        if not self.runs:
            message = f"{dataset.path}: has no run of the sweep {sweep}: it has {', '.join(dataset.sweeps) or 'none'}"
            raise BadInput(message, "`lab dataset add RUN…`")
        self.files = self._checked_files("trials")

    def _checked_files(self, table: Table) -> list[StoredFile]:
        """The files of a table in the order of their blocks."""
        files = sorted(self.dataset.register.of_sweep(self.sweep, table), key=lambda file: file.first_block)
        for file in files:
            self.dataset.check(file)
        return files

    @cached_property
    def observed(self) -> list[StoredFile]:
        """The files of observed numbers, in the order of their blocks."""
        return self._checked_files("observed")

    def bunches(self) -> list[list[StoredFile]]:
        """The files of trials in bunches that are read at once."""
        return list(group_files(self.files, PART_ROWS))

    def source(self, files: Sequence[StoredFile]) -> list[str]:
        """Files as a parameter of read_parquet."""
        return escape_paths([self.dataset.path_of(file) for file in files])

    @cached_property
    def case_statistics(self) -> dict[int, CaseStatistics]:
        """The statistics of every case, by its number."""
        return order_cases(self.engine, self.dataset, self.files)

    @cached_property
    def cases(self) -> list[int]:
        """The number of each cell's case; a cell moved a file in any trial."""
        moved = np.array(list(self.levels))[self.encoded.moved]
        return [int(number) for number in moved[np.argsort(self.encoded.cases.cell)]]

    @cached_property
    def encoded(self) -> stats.Encoded:
        """All cases as trials."""
        return stats.encode(pd.DataFrame(list(self.levels.values())).assign(anchor=False))

    @cached_property
    def levels(self) -> dict[int, dict[str, Level]]:
        """The levels of every case, also of the link, by its number in ascending order."""
        cases = self.dataset.register.cases
        for number in self.case_statistics:
            if number is None or not 0 <= number < len(cases):
                raise self._foreign_value("case_number", number)
        options = sorted({option for run in self.runs for option in run.options})
        return {number: levels_of(self.dataset, number, options) for number in sorted(self.case_statistics)}

    def parts(self) -> Iterator[Part]:
        """The transfers, some files at a time; the next part is read meanwhile."""
        bunches = self.bunches()
        cell_of = np.full(len(self.dataset.register.cases), -1)
        cell_of[self.cases] = np.arange(len(self.cases))
        with ThreadPoolExecutor(1) as reader:
            following = reader.submit(self._read, bunches[0], cell_of)
            for bunch in [*bunches[1:], None]:
                part = following.result()
                if bunch:
                    following = reader.submit(self._read, bunch, cell_of)
                yield part

    def _read(self, files: Sequence[StoredFile], cell_of: npt.NDArray[np.intp]) -> Part:
        table = f"SELECT case_number, block_number, {SPEED} AS speed FROM read_parquet(?) WHERE NOT anchor"
        columns = self.engine.numbers(table, [self.source(files)])
        first, end = files[0].first_block, files[-1].first_block + files[-1].blocks
        case = self._in_range("case_number", columns["case_number"], 0, len(cell_of))
        block = self._in_range("block_number", columns["block_number"], first, end)
        speed = np.ma.filled(columns["speed"].astype(float), np.nan)
        cell = cell_of[case]
        if not (moved := cell >= 0).all():
            cell, block, speed = cell[moved], block[moved], speed[moved]
        return Part(first, end - first, cell, block, speed)

    def _in_range(self, column: str, answer: Any, low: int, high: int) -> npt.NDArray[np.int32]:
        """The numbers of an answer. Raises BadInput for a missing number, or one out of range."""
        values: npt.NDArray[np.int32] = np.ma.getdata(answer)
        if np.ma.is_masked(answer):
            raise self._foreign_value(column, None)
        if len(values) and not (low <= values.min() and values.max() < high):
            raise self._foreign_value(column, int(values[(values < low) | (values >= high)][0]))
        return values

    def _foreign_value(self, column: str, value: Any) -> BadInput:
        """The error for a value that no run had, with its file."""
        shown = "of nothing" if value is None else value
        query = f"SELECT 1 FROM read_parquet(?) WHERE {column} IS NOT DISTINCT FROM ? LIMIT 1"
        for file in self.files:
            if self.engine.rows(query, [self.source([file]), value]):
                return BadInput(f"{self.dataset.path_of(file)}: {column} {shown}: no run that was added has it", AGAIN)
        return BadInput(f"{self.dataset.path}: {column} {shown}: no run that was added has it", AGAIN)


def levels_of(dataset: Dataset, number: int, options: Sequence[str]) -> dict[str, Level]:
    """A case's levels with all ``options`` of its sweep. Raises BadInput if the case has any other option.

    An option that the case does not name is at DEFAULT if its protocol, tool or store has it, else ABSENT.
    """
    case = dataset.register.cases[number]
    if foreign := [name for name in case if name not in FACTORS and name not in options]:
        place = f"{dataset.path / 'cases.jsonl'}: line {number + 1}"
        raise BadInput(f"{place}: {one_line(foreign[0], 80)}: no run of it names that", AGAIN)
    owners = {case[name] for name in CHOOSERS}
    return {**{name: DEFAULT if owner_of(name) in owners else ABSENT for name in options}, **case}
