"""Exact medians with intervals of any number of trials: a sample brackets them, then only values inside are sorted.

A median and its interval need ranks within a few √n of the middle. Values below the bracket are counted, so ranks are
exact whatever the sample was. If a rank lies outside the bracket, a wider one is tried.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from lab.dataset.engine import SHARE, SPEED, Engine, escape_paths
from lab.dataset.folder import Dataset
from lab.dataset.register import StoredFile
from lab.stats.intervals import Floats, median_and_interval_of, places_of_median
from lab.stats.summary_table import STATUS

SAMPLE = 4 << 20  # values of all cases together in a sample, about: 32 MB
ALL_OF = 8192  # all values of a case with no more are sorted
DEVIATIONS = 6  # half width of a bracket, in standard deviations of a sample's quantile
Quantities: TypeAlias = Mapping[str, str]  # the SQL of each sorted quantity, by its name
QUANTITIES: Quantities = {"speed": SPEED, "share": SHARE}


@dataclass
class OrderStatistics:
    """A quantity's values in a case: their number, least and most, a sorted sample, and values by place in order."""

    count: int
    least: float
    most: float
    sample: Floats
    values: dict[int, float] = field(default_factory=dict)

    @property
    def median_and_interval(self) -> tuple[float, float, float]:
        """:func:`lab.stats.intervals.median_and_interval` of all values."""
        return median_and_interval_of(self.count, self.values)

    @property
    def missing(self) -> list[int]:
        """The places whose values are still needed."""
        return sorted(places_of_median(self.count) - self.values.keys())

    def bracket(self, deviations: float) -> tuple[float, float]:
        """Two values that probably enclose the missing places; all values if they are few."""
        if self.count <= ALL_OF or len(self.sample) < 2:
            return -math.inf, math.inf
        ends = self.missing[0] / self.count, self.missing[-1] / self.count
        reach = deviations * 0.5 / math.sqrt(len(self.sample))
        low = math.floor((ends[0] - reach) * len(self.sample))
        high = math.ceil((ends[1] + reach) * len(self.sample))
        most = self.sample[high] if high < len(self.sample) else math.inf
        return self.sample[low] if low >= 0 else -math.inf, most

    def take(self, bracket: tuple[float, float], counts: tuple[int, int, int], inside: Floats) -> None:
        """Store values at missing places; ``counts``: values below the bracket, at its low and at its high end."""
        low, high = bracket
        below, at_low, at_high = counts
        ends = np.cumsum([below, at_low, len(inside), at_high if high > low else 0])
        inside = np.sort(inside)
        for place in self.missing:
            if below <= place < ends[1]:
                self.values[place] = low
            elif ends[1] <= place < ends[2]:
                self.values[place] = float(inside[place - ends[1]])
            elif ends[2] <= place < ends[3]:
                self.values[place] = high


@dataclass(frozen=True)
class CaseStatistics:
    """The trials of a case counted by STATUS, and its quantities in order."""

    counts: tuple[int, ...]
    by_quantity: Mapping[str, OrderStatistics]


def order_cases(
    engine: Engine, dataset: Dataset, files: Sequence[StoredFile], quantities: Quantities = QUANTITIES
) -> dict[int, CaseStatistics]:
    """The statistics of every case in some files of trials, by its number; without anchors."""
    source = [escape_paths([dataset.path_of(file) for file in files])]
    cases = _count(engine, source, quantities, step=max(1, sum(file.rows for file in files) // SAMPLE))
    deviations: float = DEVIATIONS
    while unfinished := _unfinished(cases):
        _take_from_brackets(engine, source, quantities, unfinished, deviations)
        deviations *= 8
    return cases


def _unfinished(cases: Mapping[int, CaseStatistics]) -> list[tuple[int, str, OrderStatistics]]:
    """The quantities of cases with missing places."""
    every = ((case, name, order) for case, of_case in cases.items() for name, order in of_case.by_quantity.items())
    return [(case, name, order) for case, name, order in every if order.missing]


def _count(engine: Engine, source: Sequence[object], quantities: Quantities, step: int) -> dict[int, CaseStatistics]:
    """Counts and ends of every case, and every ``step``-th of its values; all of them give the median at once."""
    status = ", ".join(f"count(*) FILTER (status = '{name}')" for name in STATUS)
    parts = ", ".join(
        f"count({name}), min({name}), max({name}), list({name}) FILTER ({name} IS NOT NULL AND row % {step} = 0)"
        for name in quantities
    )
    values = _finite(quantities)
    table = f"SELECT case_number, status, file_row_number AS row, {values} FROM read_parquet(?, file_row_number = true)"
    query = f"SELECT case_number, {status}, {parts} FROM ({table} WHERE NOT anchor) GROUP BY case_number"
    cases = {}
    for number, *rest in engine.rows(query, source):
        counts, answers = tuple(rest[: len(STATUS)]), rest[len(STATUS) :]
        by_quantity = {}
        for place, name in enumerate(quantities):
            count, *ends, sample = answers[4 * place : 4 * place + 4]
            least, most = (math.nan if end is None else end for end in ends)
            by_quantity[name] = OrderStatistics(count, least, most, np.sort(_array(sample)))
        cases[number] = CaseStatistics(counts, by_quantity)
    if step == 1:
        for _, _, order in _unfinished(cases):
            order.values |= {place: float(order.sample[place]) for place in order.missing}
    return cases


def _array(values: Floats | None) -> Floats:
    return np.empty(0) if values is None else values


def _finite(quantities: Quantities) -> str:
    return ", ".join(f"CASE WHEN isfinite({sql}) THEN {sql} END AS {name}" for name, sql in quantities.items())


def _take_from_brackets(
    engine: Engine,
    source: Sequence[object],
    quantities: Quantities,
    unfinished: list[tuple[int, str, OrderStatistics]],
    deviations: float,
) -> None:
    """Sort the values inside brackets, in one pass over the trials."""
    brackets = {(case, name): order.bracket(deviations) for case, name, order in unfinished}
    frame = pd.DataFrame({"case_number": sorted({case for case, _ in brackets})}).astype({"case_number": "int32"})
    for name in quantities:
        ends = [brackets.get((case, name), (math.inf, -math.inf)) for case in frame["case_number"]]
        frame[[f"{name}_low", f"{name}_high"]] = np.array(ends, dtype=float).reshape(-1, 2)
    parts = ", ".join(
        f"count(*) FILTER ({name} < {name}_low), count(*) FILTER ({name} = {name}_low), "
        f"count(*) FILTER ({name} = {name}_high), list({name}) FILTER ({name} > {name}_low AND {name} < {name}_high)"
        for name in quantities
    )
    table = f"SELECT case_number, {_finite(quantities)} FROM read_parquet(?)"
    query = f"SELECT case_number, {parts} FROM ({table} WHERE NOT anchor) JOIN brackets USING (case_number) GROUP BY 1"
    answer: dict[int, list[Any]] = {row[0]: list(row[1:]) for row in engine.rows(query, source, {"brackets": frame})}
    for case, name, order in unfinished:
        place = 4 * list(quantities).index(name)
        below, at_low, at_high, inside = answer[case][place : place + 4]
        order.take(brackets[case, name], (below, at_low, at_high), _array(inside))
