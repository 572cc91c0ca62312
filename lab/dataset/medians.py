"""Exact medians with their intervals of any number of trials: a sample brackets them, and then only what lies inside of
the bracket is put in order.

The ranks that a median and its interval are made of lie within some √n of the middle. All below the bracket is counted,
so a rank is exact whatever the sample was; where one lies outside, a wider bracket is tried.
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

SAMPLE = 4 << 20  # values of all cases together that a sample holds about: 32 MB
ALL_OF = 8192  # a case of no more values has all of them looked at
DEVIATIONS = 6  # standard deviations of a sample's quantile between the middle and the end of a bracket
Quantities: TypeAlias = Mapping[str, str]  # what is put in order, as SQL, by its name
QUANTITIES: Quantities = {"speed": SPEED, "share": SHARE}
_SPAN = (-math.inf, math.inf)


@dataclass
class OrderStatistics:
    """What is known of the values of a quantity in a case: how many, their ends, and those at some places in order."""

    count: int
    least: float
    most: float
    sample: Floats
    values: dict[int, float] = field(default_factory=dict)

    @property
    def median_and_interval(self) -> tuple[float, float, float]:
        """As :func:`lab.stats.intervals.median_and_interval` of all values."""
        return median_and_interval_of(self.count, self.values)

    @property
    def missing(self) -> list[int]:
        """The places whose values are still looked for."""
        return sorted(places_of_median(self.count) - self.values.keys())

    def bracket(self, deviations: float) -> tuple[float, float]:
        """Two values between which the missing places are likely to lie; all values, where that is not many."""
        if self.count <= ALL_OF or len(self.sample) < 2:
            return _SPAN
        ends = self.missing[0] / self.count, self.missing[-1] / self.count
        reach = deviations * 0.5 / math.sqrt(len(self.sample))
        low = math.floor((ends[0] - reach) * len(self.sample))
        high = math.ceil((ends[1] + reach) * len(self.sample))
        return (
            self.sample[low] if low >= 0 else -math.inf,
            self.sample[high] if high < len(self.sample) else math.inf,
        )

    def take(self, bracket: tuple[float, float], counts: tuple[int, int, int], inside: Floats) -> None:
        """Note what stands at missing places: ``counts`` are below the bracket, at its low and at its high end."""
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
    """What medians are shown of: the trials of a case by status, and its speeds and shares of the ceiling in order."""

    counts: tuple[int, ...]
    by_quantity: Mapping[str, OrderStatistics]


def order_cases(
    engine: Engine, dataset: Dataset, files: Sequence[StoredFile], quantities: Quantities = QUANTITIES
) -> dict[int, CaseStatistics]:
    """What medians need of every case in some files of trials, by its number; anchors are left out."""
    source = [escape_paths([dataset.path_of(file) for file in files])]
    step = max(1, sum(file.rows for file in files) // SAMPLE)
    cases = _count(engine, source, quantities, step)
    deviations: float = DEVIATIONS
    while unfinished := _unfinished(cases):
        _take_from_brackets(engine, source, quantities, unfinished, deviations)
        deviations *= 8
    return cases


def _unfinished(cases: Mapping[int, CaseStatistics]) -> list[tuple[int, str, OrderStatistics]]:
    """The quantities of cases of which a place is missing."""
    return [
        (case, name, one)
        for case, statistics in cases.items()
        for name, one in statistics.by_quantity.items()
        if one.missing
    ]


def _count(engine: Engine, source: Sequence[object], quantities: Quantities, step: int) -> dict[int, CaseStatistics]:
    """Counts and ends of every case, and every ``step``-th of its values; of all of them the median follows at once."""
    status = ", ".join(f"count(*) FILTER (status = '{name}')" for name in STATUS)
    parts = ", ".join(
        f"count({name}), min({name}), max({name}), list({name}) FILTER ({name} IS NOT NULL AND row % {step} = 0)"
        for name in quantities
    )
    values = _finite(quantities)
    table = f"SELECT case_number, status, file_row_number AS row, {values} FROM read_parquet(?, file_row_number = true)"
    answer = engine.rows(
        f"SELECT case_number, {status}, {parts} FROM ({table} WHERE NOT anchor) GROUP BY case_number",
        source,
    )
    cases = {}
    for number, *rest in answer:
        counts, answers = tuple(rest[: len(STATUS)]), rest[len(STATUS) :]
        statistics = [_order_statistics(*answers[4 * place : 4 * place + 4]) for place in range(len(quantities))]
        cases[number] = CaseStatistics(counts, dict(zip(quantities, statistics, strict=True)))
    if step == 1:
        for _, _, one in _unfinished(cases):
            one.values |= {place: float(one.sample[place]) for place in one.missing}
    return cases


def _order_statistics(count: int, least: float | None, most: float | None, sample: Floats | None) -> OrderStatistics:
    least, most = (math.nan if end is None else end for end in (least, most))
    return OrderStatistics(count, least, most, np.sort(_array(sample)))


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
    """Look at what lies inside of brackets, in one pass over the trials."""
    brackets = {(case, name): one.bracket(deviations) for case, name, one in unfinished}
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
    for case, name, one in unfinished:
        place = 4 * list(quantities).index(name)
        below, at_low, at_high, inside = answer[case][place : place + 4]
        one.take(brackets[case, name], (below, at_low, at_high), _array(inside))
