"""The data dictionary: every column that `lab export` writes as a table."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import astuple, fields

from described import table

from lab.report import registry
from lab.schemas.columns import MORE, TIDY, Entry, entries


def dictionary_page() -> Iterator[str]:
    """Every column of an exported table, a table for each object that they come from."""
    yield """# Data dictionary

The columns of the table that [`lab export`](../how-to/exchange-runs.md#as-a-table-for-other-programs) writes. A row is
a trial. A column without any value is left out. A list is text, as JSON. A share of 1 is all of it. The same as CSV:
`docs/reference/schema/columns.csv`; as JSON Schema: `lab export --schema table`.
"""
    columns = entries()
    for section in dict.fromkeys(entry.section for entry in columns):
        group = [entry for entry in columns if entry.section == section]
        yield f"## {section}\n\nFrom {group[0].source}.\n\n{_table(group)}"
    yield "## Names that are not known beforehand\n\nFrom `options`, `effective` and `observed` of the trial.\n"
    yield _table(MORE)
    yield "## With `--tidy`\n\nA row is a number of a trial.\n\n" + _table(TIDY)
    yield "## Tables of a run\n\nWhat `lab show --table` prints, and where `lab show --json` has its numbers.\n"
    rows = [(f"`{name}`", one.title, f"`{one.key}`" if one.key else "–") for name, one in registry.OF_RUN.items()]
    yield table(("table", "heading", "in JSON"), rows)


def _table(group: Iterable[Entry]) -> str:
    """Columns that differ in nothing but their names share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for entry in group:
        rest = entry.type, entry.unit, entry.meaning, entry.empty
        rows.setdefault(rest, []).append(f"`{entry.column}`")
    headings = ("column", "type", "unit", "meaning", "empty where")
    return table(headings, [(", ".join(names), *rest) for rest, names in rows.items()])


def columns_csv() -> Iterator[str]:
    """The same as CSV, a line a column."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(Entry))
    for entry in (*entries(), *MORE, *TIDY[2:]):
        writer.writerow((*astuple(entry)[:3], entry.plain_meaning, *astuple(entry)[4:]))
    yield text.getvalue()
