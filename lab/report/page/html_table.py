"""A table in HTML: named, with headings for rows and columns, and in a box of its own that scrolls where it is wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.report.page.text import escape, paragraph
from lab.report.tables import TextTable


def html_table(table: TextTable, title: str) -> str:
    """A table with ``title`` as its caption, and what is to be known of its numbers below it."""
    if not table.rows:
        return paragraph(table.caption, "note")
    name, kind = escape(title), ' class="text"' if table.is_text else ""
    factors = f' data-factors="{table.factors}"' if table.factors else ""
    named = any(table.headings)
    head = f"<thead><tr>{''.join(map(_heading, table.headings))}</tr></thead>" if named else ""
    body = "".join(f"<tbody>\n{''.join(map(_row, group))}</tbody>" for group in _groups(table.rows))
    return (
        f'<div class="scroll" role="group" tabindex="0" aria-label="{name}">'
        f"<table{kind}{factors}><caption>{name}</caption>{head}{body}</table></div>{paragraph(table.caption, 'note')}"
    )


def _heading(text: str) -> str:
    return f'<th scope="col">{escape(text)}</th>' if text else "<td></td>"


def _row(cells: Sequence[str]) -> str:
    if is_heading(cells):
        return f'<tr><th scope="rowgroup" colspan="{len(cells)}">{escape(cells[0])}</th></tr>\n'
    first, *others = cells
    return f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in others)}</tr>\n'


def is_heading(cells: Sequence[str]) -> bool:
    """Whether a row names those below it: it has but its first cell."""
    return len(cells) > 1 and bool(cells[0]) and not any(cells[1:])


def _groups(rows: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """The rows in groups, each with the headings that name it."""
    group: list[Sequence[str]] = []
    for row in rows:
        if group and is_heading(row) and not is_heading(group[-1]):
            yield group
            group = []
        group.append(row)
    if group:
        yield group
