"""A table as wide as the screen that it is printed on; where it does not fit, a listing, so that no word is lost."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lab.base.untrusted import one_line
from lab.report.tables import TextTable

LEAST_WORDS, LEAST_NAME = 20, 11  # columns: what is wrapped into fewer is hard to read
INDENT = 2  # in a listing, below the heading of a row
UNLIMITED = 10**6
MOST_ROWS = 200  # in the terminal; nobody reads more there, and to draw a thousand takes seconds


def rich_table(table: TextTable, provenance: Sequence[str] = ()) -> FittedTable:
    """A table for the terminal, MOST_ROWS of it, with where its numbers come from below it."""
    more = len(table.rows) - MOST_ROWS
    rest = f"and {more:,} more rows: --json has all" if more > 0 else ""
    rows = [list(map(one_line, row)) for row in table.rows[:MOST_ROWS]]
    below = list(map(one_line, filter(None, (rest, *provenance))))
    return FittedTable(list(map(one_line, table.headings)), rows, one_line(table.caption), below, table.is_text)


@dataclass(frozen=True)
class FittedTable:
    """Texts of one line each, as a table or a listing; ``is_text``: columns after the first are words, not numbers."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    above: str = ""
    below: Sequence[str] = ()
    is_text: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = list(self._columns())
        widths = [column.natural for column in columns]
        whole = Measurement.get(console, options.update(width=UNLIMITED), self._table(columns, widths)).maximum
        room = options.max_width - (whole - sum(widths))
        if not columns or sum(column.least for column in columns) > room:
            yield from self._listing()
            return
        for wraps in (True, False):  # headings of numbers last
            least = [column.least if column.wraps is wraps else UNLIMITED for column in columns]
            widths = shrink(widths, least, room)
        yield self._table(columns, widths)

    def _columns(self) -> Iterator[_Column]:
        readable = LEAST_WORDS if self.is_text else LEAST_NAME
        for number, heading in enumerate(self.headings):
            cells = [row[number] for row in self.rows]
            widest = max(map(cell_len, cells), default=0)
            natural = max(cell_len(heading), widest, 0 if number else readable)
            if number and not self.is_text:
                yield _Column(heading, natural, max(_longest_word([heading]), widest), wraps=False)
            else:
                least = max(_longest_word([heading, *cells]), min(natural, readable))
                yield _Column(heading, natural, least, wraps=True)

    def _table(self, columns: Sequence[_Column], widths: Sequence[int]) -> Table:
        above, below = Text(self.above), Text("\n".join(self.below))
        drawn = Table(title=above, caption=below, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for column, width in zip(columns, widths, strict=True):
            drawn.add_column(Text(column.heading), width=width, justify="left" if column.wraps else "right")
        for row in self.rows:
            drawn.add_row(*map(Text, row))
        return drawn

    def _listing(self) -> Iterator[RenderableType]:
        yield from [Text(self.above, "table.title")] if self.above else []
        for name, *cells in self.rows:
            yield Text(f"{self.headings[0]} {name}".strip(), "table.header")
            lines = Table.grid(padding=(0, 2))
            lines.add_column(overflow="fold")
            lines.add_column(overflow="fold")
            for heading, cell in zip(self.headings[1:], cells, strict=True):
                if cell:
                    lines.add_row(Text(heading), Text(cell))
            yield Padding(lines, (0, 0, 0, INDENT))
        yield from [Text("\n".join(self.below), "table.caption")] if self.below else []


@dataclass(frozen=True)
class _Column:
    """The ``natural`` width of a column, and the ``least`` that cuts no word and no number.

    If it ``wraps``, its cells may have several lines, else only its heading.
    """

    heading: str
    natural: int
    least: int
    wraps: bool


def _longest_word(texts: Iterable[str]) -> int:
    return max((cell_len(word) for text in texts for word in text.split()), default=0)


def shrink(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that add up to ``room``: the widest are cut first. They add up to more if ``least`` leaves no choice."""

    def cut(most: int) -> list[int]:
        return [min(width, max(low, most)) for width, low in zip(widths, least, strict=True)]

    most = bisect.bisect_right(range(max(widths, default=0)), room, key=lambda most: sum(cut(most + 1)))
    shrunk, wider = cut(most), cut(most + 1)
    for number in reversed(range(len(widths))):  # the last column of words is the longest one
        if sum(shrunk) < room:
            shrunk[number] = wider[number]
    return shrunk
