"""Rows and columns of a table with holes, taken apart: log speed = case + block, by least squares."""

import mmap
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lab.stats.distributions import Floats
from lab.stats.factors import Codes

Cells = npt.NDArray[np.bool_]
MOST_VALUES = 1 << 20  # of a piece: 8 MB, and no run that was ever measured has more


def two_way(values: Floats) -> tuple[Floats, Floats]:
    """What least squares makes of ``values`` (rows × columns, NaN where missing) = row + column: both, the columns'
    mean being 0.

    Without holes these are the means. With them a column lies where the rows that it has would put it, not where their
    own height does. NaN for what nothing measured joins to the largest part: its height against that cannot be known.
    Source: Searle, Linear Models, 1971, chapter 7.
    """
    joined = _largest_part(np.isfinite(values))
    rows, columns = (np.full(count, np.nan) for count in values.shape)
    row_at, column_at = joined.any(axis=1), joined.any(axis=0)
    if not joined.any():
        return rows, columns
    inside = joined[np.ix_(row_at, column_at)]
    filled = np.where(inside, values[np.ix_(row_at, column_at)], 0.0)
    if len(filled) <= filled.shape[1]:
        rows[row_at] = _first(filled, inside)
        columns[column_at] = _second(filled, inside, rows[row_at])
    else:
        columns[column_at] = _first(filled.T, inside.T)
        rows[row_at] = _second(filled.T, inside.T, columns[column_at])
    middle = float(np.nanmean(columns))
    return rows + middle, columns - middle


def column_means(values: Floats) -> Floats:
    """The mean of each column as if it had all rows: what :func:`two_way` says of it. NaN where it cannot be known."""
    if len(values) and np.isfinite(values).all():
        return values.mean(axis=0)  # type: ignore[no-any-return]  # the same, and a thousand rows take no second
    rows, columns = two_way(values)
    known = rows[np.isfinite(rows)]
    means: Floats = columns + known.mean() if len(known) else columns
    return means


class RowsInParts:
    """The effects of the rows as :func:`two_way` has them, of columns that come some at a time.

    What least squares need of them is a sum over columns: nothing grows with their number.
    """

    def __init__(self, rows: int):
        self._together = np.zeros((rows, rows))  # the weight of the columns that two rows share
        self._counts = np.zeros(rows)
        self._right = np.zeros(rows)

    def add(self, values: Floats) -> None:
        """Take in some columns (rows × columns, NaN where missing)."""
        inside = np.isfinite(values)
        weights, filled = inside.astype(float), np.where(inside, values, 0.0)
        per_column = weights / np.maximum(1.0, weights.sum(axis=0))
        self._together += per_column @ weights.T
        self._counts += weights.sum(axis=1)
        self._right += filled.sum(axis=1) - per_column @ filled.sum(axis=0)

    def solve(self) -> Floats:
        """The effect of each row, up to a constant; NaN of what nothing joins to the largest part."""
        part = self._largest_part()
        effects = np.full(len(self._counts), np.nan)
        equations = (np.diag(self._counts) - self._together)[np.ix_(part, part)]
        if part.any():
            effects[part] = np.linalg.solve(equations + 1 / part.sum(), self._right[part])
        return effects

    def _largest_part(self) -> npt.NDArray[np.bool_]:
        """The rows that hang together over columns, as those with most cells do."""
        largest, left = np.zeros(len(self._counts), dtype=bool), self._counts > 0
        while left.any():
            part = np.arange(len(left)) == left.argmax()
            while (reached := (self._together[part] > 0).any(axis=0)).sum() > part.sum():
                part = reached
            if self._counts[part].sum() > self._counts[largest].sum():
                largest = part
            left = left & ~part
        return largest


def column_means_by(values: Floats, rows: Floats) -> Floats:
    """:func:`column_means` of some columns, where the effects of the rows are known."""
    if len(values) and np.isfinite(values).all():
        return values.mean(axis=0)  # type: ignore[no-any-return]
    known = np.isfinite(rows)
    if not known.any():
        return np.full(values.shape[1], np.nan)
    inside = np.isfinite(values[known])
    count = inside.sum(axis=0)
    left = np.where(inside, values[known] - rows[known, None], 0).sum(axis=0)
    means: Floats = left / np.where(count > 0, count, np.nan) + rows[known].mean()
    return means


def _first(filled: Floats, inside: Cells) -> Floats:
    """The effects of the rows, the columns' being eliminated from the normal equations; up to a constant."""
    weights = inside.astype(float)
    per_column = weights / weights.sum(axis=0)
    equations = np.diag(weights.sum(axis=1)) - per_column @ weights.T
    right = filled.sum(axis=1) - per_column @ filled.sum(axis=0)
    effects: Floats = np.linalg.solve(equations + 1 / len(weights), right)  # any mean may be chosen: 0
    return effects


def _second(filled: Floats, inside: Cells, rows: Floats) -> Floats:
    """The effects of the columns, given those of the rows."""
    left: Floats = (filled - np.where(inside, rows[:, None], 0)).sum(axis=0) / inside.sum(axis=0)
    return left


def _largest_part(present: Cells) -> Cells:
    """The cells whose rows and columns hang together, directly or over others, as far as the most of them do."""
    row_at, column_at = present.any(axis=1), present.any(axis=0)
    if present[:, column_at].all(axis=1).any() or present[row_at].all(axis=0).any():  # one of them joins all others
        return present
    largest, left = np.zeros_like(present), present
    while left.any():
        part = _part_of(left, int(left.any(axis=1).argmax()))
        if part.sum() > largest.sum():
            largest = part
        left = left & ~part
    return largest


def _part_of(present: Cells, row: int) -> Cells:
    """The cells that hang together with those of a row."""
    rows, reached = np.arange(len(present)) == row, 0
    while reached < rows.sum():
        reached = int(rows.sum())
        columns = present[rows].any(axis=0)
        rows = present[:, columns].any(axis=1)
    part: Cells = present & rows[:, None]
    return part


def row_pieces(values: Floats) -> Iterator[Floats]:
    """Some rows at a time, in order; of none one piece without a row. A file that is mapped is read so, too."""
    step = max(1, MOST_VALUES // max(1, values.shape[1]))
    for start in range(0, max(1, len(values)), step):
        yield np.asarray(values[start : start + step])
        let_go(values)


def column_pieces(values: Floats) -> Iterator[Floats]:
    """Some columns at a time, in order."""
    step = max(1, MOST_VALUES // max(1, len(values)))
    for start in range(0, max(1, values.shape[1]), step):
        yield np.asarray(values[:, start : start + step])
        let_go(values)


def let_go(values: Floats) -> None:
    """Free the memory of a mapped file. What was read or written stays in the file."""
    if isinstance(values, np.memmap) and (mapped := getattr(values, "_mmap", None)) is not None:
        mapped.madvise(mmap.MADV_DONTNEED)


def take_rows(values: Floats, rows: Codes) -> Floats:
    """These rows, which are in order: without a copy where they stand beside one another."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return values[rows[0] : rows[-1] + 1]
    return values[rows]
