"""A table with holes as sums of a row and a column effect (log speed = case + block), by least squares."""

import mmap
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lab.stats.distributions import Floats
from lab.stats.factors import Codes

MOST_VALUES = 1 << 20  # of a piece: 8 MB, more than any measured run has


def two_way(values: Floats) -> tuple[Floats, Floats]:
    """Row and column effects of ``values`` (rows × columns, NaN if missing) by least squares; the columns' mean is 0.

    Without holes these are the means. NaN for rows and columns that no value joins to the largest part, because their
    height against that cannot be known. Source: Searle, Linear Models, 1971, chapter 7.
    """
    sums = RowsInParts(len(values))
    sums.add(values)
    joined = np.isfinite(values) & sums.largest_part()[:, None]
    rows, columns = (np.full(count, np.nan) for count in values.shape)
    row_at, column_at = joined.any(axis=1), joined.any(axis=0)
    if not joined.any():
        return rows, columns
    inside = joined[np.ix_(row_at, column_at)]
    filled = np.where(inside, values[np.ix_(row_at, column_at)], 0.0)
    if is_tall := len(filled) > filled.shape[1]:
        filled, inside = filled.T, inside.T
    sums = RowsInParts(len(filled))
    sums.add(np.where(inside, filled, np.nan))
    first = sums.solve()
    second = (filled - np.where(inside, first[:, None], 0)).sum(axis=0) / inside.sum(axis=0)
    rows[row_at], columns[column_at] = (second, first) if is_tall else (first, second)
    middle = float(np.nanmean(columns))
    return rows + middle, columns - middle


def column_means(values: Floats) -> Floats:
    """The mean of each column as if it had all rows, by :func:`two_way`; NaN where that cannot be known."""
    if len(values) and np.isfinite(values).all():
        return values.mean(axis=0)  # type: ignore[no-any-return]  # the same, and faster
    rows, columns = two_way(values)
    known = rows[np.isfinite(rows)]
    return columns + known.mean() if len(known) else columns


class RowsInParts:
    """Row effects as in :func:`two_way` for columns that come some at a time; least squares need only sums of them."""

    def __init__(self, rows: int):
        self._together = np.zeros((rows, rows))  # the weight of the columns that two rows share
        self._counts = np.zeros(rows)
        self._right = np.zeros(rows)

    def add(self, values: Floats) -> None:
        """Add some columns (rows × columns, NaN where missing)."""
        inside = np.isfinite(values)
        weights, filled = inside.astype(float), np.where(inside, values, 0.0)
        per_column = weights / np.maximum(1.0, weights.sum(axis=0))
        self._together += per_column @ weights.T
        self._counts += weights.sum(axis=1)
        self._right += filled.sum(axis=1) - per_column @ filled.sum(axis=0)

    def solve(self) -> Floats:
        """The effect of each row, up to a constant; NaN for rows that nothing joins to the largest part."""
        part = self.largest_part()
        effects = np.full(len(self._counts), np.nan)
        equations = (np.diag(self._counts) - self._together)[np.ix_(part, part)]
        if part.any():
            effects[part] = np.linalg.solve(equations + 1 / part.sum(), self._right[part])
        return effects

    def largest_part(self) -> npt.NDArray[np.bool_]:
        """The connected rows (by shared columns) that have most cells."""
        largest, remaining = np.zeros(len(self._counts), dtype=bool), self._counts > 0
        while remaining.any():
            part = np.arange(len(remaining)) == remaining.argmax()
            while (reached := (self._together[part] > 0).any(axis=0)).sum() > part.sum():
                part = reached
            if self._counts[part].sum() > self._counts[largest].sum():
                largest = part
            remaining = remaining & ~part
        return largest


def column_means_by(values: Floats, rows: Floats) -> Floats:
    """:func:`column_means` of some columns, given the effects of the rows."""
    if len(values) and np.isfinite(values).all():
        return values.mean(axis=0)  # type: ignore[no-any-return]
    known = np.isfinite(rows)
    if not known.any():
        return np.full(values.shape[1], np.nan)
    inside = np.isfinite(values[known])
    count = inside.sum(axis=0)
    residuals = np.where(inside, values[known] - rows[known, None], 0).sum(axis=0)
    means: Floats = residuals / np.where(count > 0, count, np.nan) + rows[known].mean()
    return means


def row_pieces(values: Floats) -> Iterator[Floats]:
    """Some rows at a time, in order, also of a mapped file; one empty piece if there are no rows."""
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
    """Free the memory of a mapped file; its content stays in the file."""
    if isinstance(values, np.memmap) and (mapped := getattr(values, "_mmap", None)) is not None:
        mapped.madvise(mmap.MADV_DONTNEED)


def take_rows(values: Floats, rows: Codes) -> Floats:
    """These rows, which are in ascending order; no copy if they are adjacent."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return values[rows[0] : rows[-1] + 1]
    return values[rows]
