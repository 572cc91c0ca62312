"""Trials as numbers, computed once and shared, because numbering text columns takes most of the time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.base.errors import BadInput
from lab.base.units import size_label
from lab.base.untrusted import from_json
from lab.design.case import MOST_CASES, MOST_LEVELS, MOST_PAIRED_LEVELS, MOST_VARIED
from lab.results.trial import CEILINGS
from lab.stats.factors import Cells, Codes, Column, Level, cells, factors_of, number_values, order_levels
from lab.stats.intervals import Floats
from lab.stats.linear_model import count_columns
from lab.stats.link_ceilings import is_lower_shot
from lab.stats.speed_matrix import Grid, of_rows

Mask = npt.NDArray[np.bool_]
MOST_TRIALS = 30  # of a case, evenly over the run


class Encoded:
    """A frame of :func:`lab.results.run_folder.load` as numbers, computed once; later changes of it are not seen."""

    def __init__(self, frame: pd.DataFrame):
        self.frame = frame.copy(deep=False)
        self._numbered: dict[str, tuple[Codes, list[Level]]] = {}

    def number_values(self, name: str) -> tuple[Codes, list[Level]]:
        """:func:`lab.stats.factors.number_values` of one column."""
        if name not in self._numbered:
            self._numbered[name] = number_values(self.frame[name])
        return self._numbered[name]

    def has(self, name: str, *values: Level) -> Mask:
        """The rows that have one of the values in a column."""
        codes, distinct = self.number_values(name)
        return np.array([*(value in values for value in distinct), False], dtype=bool)[codes]  # the code −1 is the last

    def values(self, name: str) -> Any:
        """A column as an array."""
        return self.frame[name].to_numpy()

    @cached_property
    def moved(self) -> Mask:
        """The rows that moved a file; the link's and the store's own rows did not."""
        return ~self.has("protocol", *CEILINGS)

    @cached_property
    def transfer(self) -> Mask:
        """The rows that moved files and are compared, so no anchors."""
        transfer: Mask = self.moved & ~self.values("anchor").astype(bool)
        return transfer

    @cached_property
    def ceiling(self) -> Mask:
        """The link's own rows, without lower shots."""
        return self.has("protocol", "link") & ~is_lower_shot(self.frame).to_numpy()

    @cached_property
    def ok(self) -> Mask:
        """The rows whose status is ok."""
        return self.has("status", "ok")

    @cached_property
    def good(self) -> Mask:
        """The rows that are ok and have a speed."""
        good: Mask = self.ok & (self.values("MB_per_s") > 0)
        return good

    def levels(self, name: str, chosen: Mask | npt.NDArray[np.intp]) -> tuple[Codes, list[Level]]:
        """For each chosen row the number of its level, and the levels in reading order."""
        codes, values = self.number_values(name)
        return order_levels(name, codes[chosen], values)

    def cells(self, by: Sequence[str], chosen: Mask) -> Cells:
        """The cells of the chosen rows."""
        return cells({name: self.levels(name, chosen) for name in by}, int(chosen.sum()))

    @cached_property
    def cases(self) -> Cells:
        """The cells of the transfers, by every factor. Raises BadInput if there are more than a sweep can have."""
        cells = self.cells(factors_of(self.frame.columns), self.transfer)
        varied = [name for name, levels in cells.levels.items() if len(levels) > 1]
        counts = {f"levels of {name}": len(cells.levels[name]) for name in varied}
        for noun, count, most in (
            ("different cases", len(cells.codes), MOST_CASES),
            ("factors that vary", len(varied), MOST_VARIED),
            *((name, count, MOST_LEVELS) for name, count in counts.items()),
            ("combinations of two levels", count_columns(cells.levels), MOST_PAIRED_LEVELS),
        ):
            if count > most:
                raise BadInput(f"the run has {count:,} {noun}: at most {most:,} can be compared")
        return cells

    @cached_property
    def grid(self) -> Grid:
        """The transfers as a matrix, cases × blocks."""
        return self.grid_of(self.cases)

    def grid_of(self, cases: Cells) -> Grid:
        """The grid for other cases of the transfers."""
        of = self.transfer
        return of_rows(cases, *self.levels("block", of), self.values("MB_per_s")[of], self.good[of])

    @cached_property
    def counts(self) -> list[str]:
        """Payloads, numbers of transfers by status, and number of blocks, in words."""
        cells = self.cells(("workload", "size_bytes", "clients"), self.transfer)
        workloads, sizes, clients = cells.levels.values()
        is_number = re.compile("[1-9][0-9]?").fullmatch  # not so in a run from elsewhere
        shares = [int(level) if isinstance(level, str) and is_number(level) else 1 for level in clients]
        payloads = dict.fromkeys(  # each client has its own payload
            f"{workloads[one]} of {size_label(sizes[other] // shares[several])}" for one, other, several in cells.codes
        )
        n = (f"{(self.has('status', name) & self.transfer).sum()} {name}" for name in ("ok", "void", "failed"))
        return [*payloads, f"n = {', '.join(n)}", f"blocks: {len(self.number_values('block')[1])}"]


Trials = pd.DataFrame | Encoded


def encode(trials: Trials) -> Encoded:
    """Trials as numbers: encode once, and pass the result instead of the frame to any function of trials."""
    return trials if isinstance(trials, Encoded) else Encoded(trials)


def grid(trials: Trials, factors: Sequence[str] | None = None) -> Grid:
    """The grid of a run, by every factor unless some are named; see :func:`lab.stats.speed_matrix.of_rows`."""
    encoded = encode(trials)
    return encoded.grid if factors is None else encoded.grid_of(encoded.cells(factors, encoded.transfer))


def transfers(trials: Trials) -> pd.DataFrame:
    """The trials that moved files and are compared, without the link's own rows and without anchors."""
    encoded = encode(trials)
    return encoded.frame[encoded.transfer]


def measured(trials: Trials) -> pd.DataFrame:
    """The transfers that count: status ok, with a speed."""
    encoded = encode(trials)
    return encoded.frame[encoded.transfer & encoded.good]


def some_of_each_case(trials: Trials) -> pd.DataFrame:
    """At most MOST_TRIALS good transfers of each case, evenly over the run; ``observed`` as objects."""
    good = measured(trials)
    cases = good.groupby("case_id", sort=False, observed=True)["block"]
    step: Column = step_of(cases.transform("size"))
    some = good[cases.cumcount() % step == 0]
    return some.assign(observed=some["observed"].map(from_json))


def step_of(count: Any) -> Any:
    """The step that takes at most MOST_TRIALS of ``count`` trials; ``count`` may be an array."""
    return -(-count // MOST_TRIALS)


def median_of_each_case(some: pd.DataFrame, values: Column | Floats) -> dict[tuple[Level, ...], float]:
    """The median of a value over each case's trials, by the levels of the case; only finite values count."""
    names = list(factors_of(some.columns))
    known = some[names].assign(value=values)[np.isfinite(values)]
    medians = known.groupby(names, sort=False, observed=True)["value"].median()
    return dict(zip(medians.index, medians.astype(float), strict=True))
