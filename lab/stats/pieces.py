"""Large matrices in pieces: what is computed of one takes a few times its size, so one of a gigabyte is never whole."""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import numpy as np

from lab.stats.distributions import Floats
from lab.stats.factors import Codes

MOST_VALUES = 1 << 20  # of a piece: 8 MB, and no run that was ever measured has more


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
    """Of a file that is mapped: keep in memory nothing of what was read or written. All of it stays in the file."""
    if isinstance(values, np.memmap) and (mapped := getattr(values, "_mmap", None)) is not None:
        mapped.madvise(mmap.MADV_DONTNEED)


def take_rows(values: Floats, rows: Codes) -> Floats:
    """These rows, which are in order: without a copy where they stand beside one another."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return values[rows[0] : rows[-1] + 1]
    return values[rows]
