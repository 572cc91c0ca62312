"""Tables and sections as HTML, Markdown and on a terminal. Whatever came from a host or a file is escaped."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from lab import stats
from lab.base.untrusted import one_line, printable
from lab.report.prose import about_hosts, warnings
from lab.report.tables import TextTable
from lab.results.trial import RunJson

if TYPE_CHECKING:
    from lab.report.fitted_table import FittedTable

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0; display: block; overflow-x: auto }
th, td { padding: .25em .7em; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
th:first-child, td:first-child, .text td, .text th { text-align: left; white-space: normal }
img { width: 100% } pre { background: #f4f4f4; padding: 1em; overflow-x: auto } .where { color: #555 }
"""
# The browser itself is told to fetch nothing: the report stays one file whatever a host has put into it.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
MOST_ROWS = 200  # of a table in the terminal: nobody reads more there, and drawing a thousand takes seconds


@dataclass(frozen=True)
class Section:
    """One part of a report: a title, words, the name of a figure, tables."""

    title: str
    text: str = ""
    figure: str = ""
    tables: Sequence[TextTable] = ()


def records(table: pd.DataFrame) -> list[dict[str, object]]:
    """A table as JSON values; null where there is no number."""
    values: list[dict[str, object]] = json.loads(table.to_json(orient="records", double_precision=15))
    return values


def rich_table(table: TextTable, provenance: Sequence[str] = ()) -> FittedTable:
    """A table for the terminal, MOST_ROWS of it, with where its numbers come from below it."""
    from lab.report.fitted_table import FittedTable  # a report needs no rich

    more = len(table.rows) - MOST_ROWS
    rest = f"and {more:,} more rows: --json has all" if more > 0 else ""
    rows = [list(map(one_line, row)) for row in table.rows[:MOST_ROWS]]
    below = list(map(one_line, filter(None, (rest, *provenance))))
    return FittedTable(list(map(one_line, table.headings)), rows, one_line(table.caption), below, table.is_text)


def markdown(title: str, run: RunJson, trials: stats.Trials, sections: Iterable[Section]) -> str:
    """A post that can be published as it is."""
    parts = [f"# {md(title)}", *(md(line) for line in _head(run, trials))]
    parts += [f"**{md(warning)}**" for warning in warnings(run)]
    for section in sections:
        parts += [f"## {section.title}", md(section.text)]
        parts += [f"![{section.title}](figures/{section.figure}.png)"] if section.figure else []
        parts += [part for table in section.tables for part in (markdown_table(table), md(table.caption))]
    return "\n\n".join(filter(None, parts)) + "\n"


def markdown_table(table: TextTable) -> str:
    """A table in Markdown, without its caption."""
    column = "---" if table.is_text else "---:"
    rows = [list(map(md, table.headings)), ["---", *[column] * (len(table.headings) - 1)]]
    rows += [list(map(md, row)) for row in table.rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _head(run: RunJson, trials: stats.Trials) -> list[str]:
    return [line for line in (*stats.provenance(trials), about_hosts(run)) if line]


def md(text: str) -> str:
    """Text that Markdown shows as it is: on one line, and neither markup nor HTML."""
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", html.escape(printable(" ".join(text.split())), quote=False))


def page(
    title: str, run: RunJson, trials: stats.Trials, sections: Iterable[Section], drawings: dict[str, bytes]
) -> str:
    """The whole report as one file that needs no network."""
    name = _escape(title)
    parts = [f"<h1>{name}</h1>"]
    parts += [f'<p class="where">{_escape(line)}</p>' for line in _head(run, trials)]
    parts += [f"<p><strong>{_escape(warning)}</strong></p>" for warning in warnings(run)]
    for section in sections:
        parts.append(f"<h2>{section.title}</h2><p>{_escape(section.text)}</p>")
        if section.figure:
            source = base64.b64encode(drawings[section.figure]).decode()
            parts.append(f'<img alt="{section.title}" src="data:image/svg+xml;base64,{source}">')
        parts += map(html_table, section.tables)
    parts.append(f"<h2>The sweep</h2><pre>{_escape(run.get('sweep_text', ''))}</pre>")
    return document(name, parts)


def document(name: str, parts: Iterable[str]) -> str:
    """A page of HTML that fetches nothing; its name and parts are HTML already."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><style>{STYLE}</style></head>\n<body>'
        + "\n".join(parts)
        + "</body></html>\n"
    )


def html_table(table: TextTable) -> str:
    """A table in HTML, and its caption below it."""
    head = "".join(f"<th>{_escape(heading)}</th>" for heading in table.headings)
    body = "".join("<tr>" + "".join(f"<td>{_escape(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    kind = ' class="text"' if table.is_text else ""
    return f"<table{kind}><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table><p>{_escape(table.caption)}</p>"


def _escape(text: str) -> str:
    """Text that a browser shows as it is: no markup, and nothing that turns the direction of what follows."""
    return html.escape(printable(text))
