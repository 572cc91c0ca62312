"""The server's store by itself, as a table: dd, fio and bonnie++ on the server, without a network."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from lab import stats
from lab.report.tables import TextTable, between, levels, number
from lab.stats.store_numbers import BYTES, store_columns

NAMES = {
    ("dd", "write"): "dd: written and flushed",
    ("dd", "read"): "dd: read, caches dropped",
    ("devices", "write"): "the devices meanwhile: written",
    ("devices", "read"): "the devices meanwhile: read",
    ("memory", "write"): "dd: written, not flushed",
    ("memory", "read"): "dd: read again, from memory",
    ("fio", "read"): "fio: 4 KiB at random, read",
    ("fio", "write"): "fio: 4 KiB at random, written",
    ("bonnie++", "write_char"): "bonnie++: written byte by byte",
    ("bonnie++", "write_block"): "bonnie++: written in blocks",
    ("bonnie++", "rewrite"): "bonnie++: read and written again",
    ("bonnie++", "read_char"): "bonnie++: read byte by byte",
    ("bonnie++", "read_block"): "bonnie++: read in blocks",
    ("bonnie++", "seeks"): "bonnie++: random seeks",
    ("bonnie++", "create"): "bonnie++: files made, in order",
    ("bonnie++", "stat"): "bonnie++: files looked at, in order",
    ("bonnie++", "delete"): "bonnie++: files removed, in order",
    ("bonnie++", "random_create"): "bonnie++: files made, in no order",
    ("bonnie++", "random_stat"): "bonnie++: files looked at, in no order",
    ("bonnie++", "random_delete"): "bonnie++: files removed, in no order",
}
MB = 10**6


def store_table(numbers: pd.DataFrame) -> TextTable | None:
    """What :func:`lab.stats.store_numbers.store_numbers` says; None where no store was measured by itself."""
    if numbers.empty:
        return None
    varied = [name for name in store_columns(numbers) if numbers[name].nunique() > 1]
    rows = [[_name(row, varied), *_cells(row)] for row in stats.rows_of(numbers)]
    caption = (
        "On the server, without a network, once a block. MB/s are of 10⁶ bytes; /s are requests, seeks or files. "
        "Devices: what the disks moved while dd wrote or read, where they are counted: less than dd is compression, "
        "more is what the file system adds, or somebody else. Longest: what the longest operation took. CPU: of one "
        "core, as the tool says."
    )
    if (numbers["too_short"] > 0).any():
        caption += " Too short: bonnie++ was done within half a second, and gives no number."
    if (numbers["cached"] > 0).any():
        caption += (
            " Cached: the file of bonnie++ is less than twice the server's memory, so these are numbers of memory as "
            "much as of the disk."
        )
    return TextTable(["", "median", "least … most", "CPU %", "longest ms", "n"], rows, caption)


def _name(row: stats.Row, varied: Sequence[str]) -> str:
    name = NAMES[row["tool"], row["test"]]
    marks = levels(row, varied)
    marks += ["cached"] if row["cached"] > 0 else []
    return f"{name} ({', '.join(marks)})" if marks else name


def _cells(row: stats.Row) -> list[str]:
    factor, unit, style = (1 / MB, " MB/s", ".1f") if row["unit"] == BYTES else (1, " /s", ".0f")
    numbers = row["n"] - row["too_short"]
    return [
        number(factor * row["median"], style, unit) if numbers else "too short",
        between(factor * row["least"], factor * row["most"], style),
        number(100 * row["cpu"], ".0f"), number(row["longest_ms"], ".1f"),
        str(row["n"]) if numbers in (0, row["n"]) else f"{numbers} of {row['n']}",
    ]  # fmt: skip
