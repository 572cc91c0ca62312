"""The factors of a sweep, their levels in reading order, and their labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.base.errors import BadInput
from lab.base.units import LARGEST, size_label
from lab.design.factors import ABSENT, BY_NAME, baseline_of, label_of, owner_of, rank
from lab.design.factors import Level as Level

FACTORS = (*BY_NAME, "workload")  # of every case
POOLED = ("protocol", "tool", "direction")
# Baselines that are neither the smallest level nor the first of the alphabet
FIRST = {name: factor.baseline for name, factor in BY_NAME.items() if factor.baseline is not None}
first_level, factor_label = baseline_of, label_of
EVERY = "all"  # in a column of levels: averaged over them
MOST_COLUMNS = 64  # numpy numbers combinations of at most so many

Codes = npt.NDArray[np.signedinteger[Any]]
Row: TypeAlias = Mapping[Any, Any]  # of a table, by column: text, numbers and truth values
Column: TypeAlias = "pd.Series[Any]"  # of a frame, of any type


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table, each by column: as ``to_dict("records")``, and faster."""
    names = [str(name) for name in table]
    return [dict(zip(names, row, strict=True)) for row in zip(*(table[name].tolist() for name in table), strict=True)]


def factors_of(columns: Iterable[str]) -> tuple[str, ...]:
    """The factors of a frame: FACTORS, and the options of mounts, tools and stores that it has."""
    return (*FACTORS, *filter(owner_of, columns))


def number_values(column: Column) -> tuple[Codes, list[Level]]:
    """The number of each row's value (−1 for none), and the values; if categorical, some may not occur."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(column.cat.codes), column.cat.categories.tolist()
    codes, values = pd.factorize(column.to_numpy())  # faster than of a Series
    return codes.astype(np.min_scalar_type(-len(values) - 1)), values.tolist()  # small numbers are read faster


def order_levels(factor: str, codes: Codes, values: list[Level]) -> tuple[Codes, list[Level]]:
    """Codes and values that occur, in reading order: the factor's first level, numbers, text, and ABSENT last."""
    if len(values) == 1 and len(codes):
        return codes, values
    occurs = np.flatnonzero(np.bincount(codes, minlength=len(values))).tolist()
    first = first_level(factor)

    def place(code: int) -> tuple[Any, ...]:
        value = values[code]
        size = rank(value) if isinstance(value, str) else value
        return value == ABSENT, value != first, isinstance(value, str), size

    ordered = sorted(occurs, key=place)
    places = np.zeros(len(values), dtype=codes.dtype)
    places[ordered] = np.arange(len(ordered))
    return places.take(codes), [values[code] for code in ordered]


@dataclass(frozen=True)
class Cells:
    """The combinations of levels that occur, in reading order.

    ``cell`` has the number of each row's cell, ``levels`` the levels of each column in reading order, and ``codes``
    (cells × columns) their numbers.
    """

    cell: Codes
    levels: dict[str, list[Level]]
    codes: Codes

    def code(self, name: str) -> Codes:
        """The level of every cell in one column, as a number."""
        return self.codes[:, list(self.levels).index(name)]

    def frame(self) -> pd.DataFrame:
        """The levels of every cell, a column each."""
        columns = {name: [levels[code] for code in self.code(name)] for name, levels in self.levels.items()}
        return pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})

    def only(self, rows: npt.NDArray[np.bool_]) -> Cells:
        """The cells of some of the rows."""
        cell = self.cell[rows]
        occurs = np.bincount(cell, minlength=len(self.codes)) > 0
        columns = {name: order_levels(name, self.code(name)[occurs], values) for name, values in self.levels.items()}
        levels = {name: values for name, (_, values) in columns.items()}
        return Cells((np.cumsum(occurs) - 1)[cell], levels, np.array([codes for codes, _ in columns.values()]).T)


def cells(columns: Mapping[str, tuple[Codes, list[Level]]], rows: int) -> Cells:
    """Number the combinations of columns, each as :func:`order_levels` gives it, of so many rows."""
    place, levels = np.zeros(rows, dtype=np.int64), {name: values for name, (_, values) in columns.items()}
    if len(columns) > MOST_COLUMNS or math.prod(max(1, len(values)) for values in levels.values()) >= LARGEST:
        raise BadInput(f"the run has {len(columns)} factors with more levels than can be combined")
    for codes, values in columns.values():
        if len(values) > 1:
            place *= len(values)
            place += codes
    cell, places = pd.factorize(place, sort=True)
    counts = tuple(max(1, len(values)) for values in levels.values())
    return Cells(cell, levels, np.array(np.unravel_index(places, counts)).T)


def level_label(factor: str, level: Level) -> str:
    """A level as a person writes it: ``9000``, ``512 KiB``, ``AFP``."""
    if factor == "size_bytes":
        return size_label(level)
    return BY_NAME[factor].write(level) if factor in BY_NAME else str(level)


def change_label(factor: str, baseline: Level, level: Level) -> str:
    """A comparison in words, such as ``MTU 1500 → 9000``."""
    return f"{factor_label(factor)} {level_label(factor, baseline)} → {level_label(factor, level)}"


def row_label(row: Row) -> str:
    """Where a row of a table holds, such as ``AFP cp write``; ``all cases`` if averaged over everything."""
    named = [level_label(name, row[name]) for name in POOLED if name in row and row[name] != EVERY]
    return " ".join(named) or "all cases"


def term_label(term: str) -> str:
    """A factor, or ``mtu:tcp_space``, as a person writes it: ``MTU × TCP buffer``."""
    return " × ".join(map(factor_label, term.split(":")))
