"""Rows and columns of a table with holes, taken apart: log speed = case + block, by least squares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lab.stats.intervals import Floats

Cells = npt.NDArray[np.bool_]


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
