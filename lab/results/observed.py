"""What both hosts counted during each trial: a column of objects that are read from the run folder when asked for."""

from __future__ import annotations

import bisect
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype, take

from lab.base.errors import BadInput
from lab.base.untrusted import from_json


class Source(Protocol):
    """Where objects are, by row."""

    def objects(self, rows: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The objects of these rows."""


@dataclass(frozen=True)
class InMemory:
    """Objects at hand."""

    all: Sequence[dict[str, Any]]

    def objects(self, rows: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The objects of these rows."""
        return (self.all[row] for row in rows)


@dataclass(frozen=True, eq=False)
class InFile:
    """The ``observed`` of the lines of a file that is only ever appended to; ``ends``: the byte after each line."""

    path: Path
    ends: npt.NDArray[np.int64]

    def objects(self, rows: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The objects of these rows. Raises :class:`BadInput` where the file is gone, or not what it was."""
        place = f"{self.path}"
        try:
            with self.path.open("rb", buffering=0) as file:
                for row in rows:
                    place = f"{self.path}: line {row + 1}"
                    start = int(self.ends[row - 1]) if row else 0
                    yield _observed(os.pread(file.fileno(), int(self.ends[row]) - start, start))
        except (OSError, ValueError) as error:
            raise BadInput(f"{place}: cannot be read again: {error}; load the run anew") from error


@dataclass(frozen=True, eq=False)
class Joined:
    """Sources one after the other; ``starts`` are the rows that their first ones have here."""

    sources: Sequence[Source]
    starts: Sequence[int]

    def objects(self, rows: Iterable[int]) -> Iterator[dict[str, Any]]:
        """The objects of these rows."""
        for place, here in itertools.groupby(rows, lambda row: bisect.bisect_right(self.starts, row) - 1):
            yield from self.sources[place].objects([row - self.starts[place] for row in here])


class _Line(msgspec.Struct):
    observed: dict[str, Any] = {}


_decode = msgspec.json.Decoder(_Line).decode


def _observed(line: bytes) -> dict[str, Any]:
    try:
        return _decode(line).observed
    except (msgspec.DecodeError, RecursionError):  # it does not take all that the lab does
        observed: dict[str, Any] = from_json(line.decode()).get("observed", {})
        return observed


class ObservedDtype(ExtensionDtype):
    """The type of a column of such objects."""

    name = "observed"
    type = dict
    na_value = None

    @classmethod
    def construct_array_type(cls) -> Any:
        """The array of this type."""
        return ObservedArray


class ObservedArray(ExtensionArray):
    """Objects that stay where they are: an array of the rows of a source, -1 where an object is missing."""

    def __init__(self, source: Source, rows: npt.NDArray[np.int64]):
        self._source, self._rows = source, rows

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> Self:
        found = list(scalars)
        return cls(InMemory(found), np.array([-1 if one is None else row for row, one in enumerate(found)], np.int64))

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[Self]) -> Self:
        starts = [0, *itertools.accumulate(int(array._rows.max(initial=-1)) + 1 for array in to_concat)]
        rows = [
            np.where(array._rows < 0, -1, array._rows + start)
            for array, start in zip(to_concat, starts[:-1], strict=True)
        ]
        return cls(Joined([array._source for array in to_concat], starts[:-1]), np.concatenate(rows))

    def objects(self) -> Iterator[dict[str, Any] | None]:
        """Every object in turn, read now; None where it is missing."""
        found = self._source.objects(self._rows[self._rows >= 0].tolist())
        return (next(found) if row >= 0 else None for row in self._rows)

    @property
    def dtype(self) -> ExtensionDtype:
        """The type of the column."""
        return ObservedDtype()

    @property
    def nbytes(self) -> int:
        """Bytes that the array takes in memory, the objects of a file not counted."""
        return self._rows.nbytes

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, item: Any) -> Any:
        chosen = self._rows[pd.api.indexers.check_array_indexer(self, item)]
        array = type(self)(self._source, np.atleast_1d(chosen))
        return array if np.ndim(chosen) else next(array.objects())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[np.object_]:
        found = np.empty(len(self), object)
        found[:] = list(self.objects())
        return found

    def __eq__(self, other: object) -> Any:
        return np.asarray(self) == np.asarray(other)

    def isna(self) -> npt.NDArray[np.bool_]:
        """Where an object is missing."""
        return self._rows < 0

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        """The array of the objects at these places; -1 is a missing one where ``allow_fill``."""
        rows = take(self._rows, np.asarray(indices), allow_fill=allow_fill, fill_value=-1)
        return type(self)(self._source, np.asarray(rows))

    def copy(self) -> Self:
        """Another array of the same objects."""
        return type(self)(self._source, self._rows.copy())


def flat(objects: Iterable[dict[str, Any] | None], index: pd.Index[Any]) -> pd.DataFrame:
    """One column a leaf of objects in objects, named by its path, such as ``client.user_s``; NaN where one lacks it."""
    columns: dict[str, list[Any]] = {}
    for row, found in enumerate(objects):
        for path, value in _leaves(found or {}, ""):
            column = columns.setdefault(path, [])
            column.extend([None] * (row - len(column)))
            column[row:] = [value]
    for column in columns.values():
        column.extend([None] * (len(index) - len(column)))
    return pd.DataFrame(columns, index=index)


def _leaves(found: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key, value in found.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value
