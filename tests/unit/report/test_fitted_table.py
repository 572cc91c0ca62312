"""A table is whole on a screen of any width: as a table, or as a listing where its columns have no room."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from support.rendered import rendered

from lab.report.fitted_table import FittedTable, rich_table, shrink
from lab.report.tables import TextTable

WORD = st.text("abcdefghij0123456789", min_size=1, max_size=12)
CELL = st.lists(WORD, max_size=9).map(" ".join)


@st.composite
def tables(draw: st.DrawFn) -> FittedTable:
    """Tables of any shape whose words have room on every screen of 60 columns."""
    count = draw(st.integers(1, 9))
    row = st.lists(CELL, min_size=count, max_size=count)
    return FittedTable(draw(row), draw(st.lists(row, max_size=5)), draw(CELL), [draw(CELL)], draw(st.booleans()))


def words_of(table: FittedTable) -> set[str]:
    """The words of its cells, and those of its caption and what stands below it."""
    return set(" ".join([table.above, *table.below, *(cell for row in table.rows for cell in row)]).split())


@given(table=tables(), width=st.integers(60, 200))
def test_no_word_of_a_table_is_lost_on_a_screen_and_no_line_is_too_wide(table: FittedTable, width: int) -> None:
    text = rendered(table, width=width)
    assert words_of(table) <= set(text.split())
    assert max(map(len, text.splitlines()), default=0) <= width


def test_a_table_that_fits_is_as_wide_as_its_cells() -> None:
    table = rich_table(TextTable(["", "n"], [["NFS cp", "3"]], "Speeds"))
    assert rendered(table, width=60) == rendered(table, width=200)


def test_a_narrow_screen_lists_each_row_below_its_name() -> None:
    rows = [["MTU 1500 → 9000:", "", ""], ["SMB cp write", "link", "nothing else was near its limit in any trial"]]
    text = rendered(rich_table(TextTable(["", "limited by", "evidence"], rows, "Limits", True), ["here"]), width=45)
    assert [line.rstrip() for line in text.splitlines()] == [
        "Limits",
        "MTU 1500 → 9000:",
        "SMB cp write",
        "  limited by  link",
        "  evidence    nothing else was near its limit",
        "              in any trial",
        "here",
    ]


def test_a_first_column_with_a_name_keeps_it_in_a_listing() -> None:
    table = rich_table(TextTable(["trial", "remark"], [["b001-0002", "x" * 70]], "", True))
    assert rendered(table, width=60).splitlines()[0].rstrip() == "trial b001-0002"


def test_headings_of_numbers_wrap_before_a_table_becomes_a_listing() -> None:
    table = rich_table(TextTable(["", "least round trip", "retransmitted segments"], [["NFS cp", "0.68", "17"]]))
    lines = [line.split() for line in rendered(table, width=45).splitlines() if line.strip()]
    assert ["NFS", "cp", "0.68", "17"] in lines
    assert len(lines) > 3


def test_a_table_without_columns_says_why() -> None:
    assert "No transfer was tried." in rendered(rich_table(TextTable([], [], "No transfer was tried.")))


def test_the_widest_columns_are_cut_first_and_none_below_its_least() -> None:
    assert shrink([10, 40, 50], [1, 1, 1], 70) == [10, 30, 30]
    assert shrink([10, 40, 50], [1, 1, 1], 71) == [10, 30, 31]
    assert shrink([10, 40, 50], [1, 35, 1], 70) == [10, 35, 25]
    assert shrink([10, 40], [10, 40], 20) == [10, 40]
    assert shrink([10, 40], [1, 1], 60) == [10, 40]
    assert shrink([], [], 60) == []


def test_a_cell_of_many_lines_is_drawn_at_once() -> None:
    screen = io.StringIO()
    Console(file=screen, width=80).print(rich_table(TextTable(["", "reason"], [["a", "x " * 10**5]], "", True)))
    assert len(screen.getvalue()) > 10**5
