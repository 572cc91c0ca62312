"""Tables and sections as Markdown and on a terminal. Whatever came from a host or a file is escaped."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from lab import stats
from lab.base.untrusted import one_line, printable
from lab.report import code_spans
from lab.report.prose import about_hosts
from lab.report.tables import TextTable
from lab.results.trial import RunJson

if TYPE_CHECKING:
    from lab.report.fitted_table import FittedTable

TEMPLATE = re.compile(r"\{(?=[{%:])")  # the begin of Liquid's, Hugo's and kramdown's own marks
MOST_ROWS = 200  # of a table in the terminal: nobody reads more there, and drawing a thousand takes seconds


@dataclass(frozen=True)
class Section:
    """One part of a report: a title, what was found, words about it, the name of a figure, tables.

    A page has it under the ``question`` that it answers (:data:`lab.report.page.run_page.QUESTIONS`): open where it
    ``leads``, else folded.
    """

    title: str
    text: str = ""
    figure: str = ""
    tables: Sequence[TextTable] = ()
    finding: str = ""
    question: str = "more"
    leads: bool = False


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


def markdown_table(table: TextTable) -> str:
    """A table in Markdown, without its caption."""
    column = "---" if table.is_text else "---:"
    rows = [list(map(md, table.headings)), ["---", *[column] * (len(table.headings) - 1)]]
    rows += [list(map(md, row)) for row in table.rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def head(run: RunJson, trials: stats.Trials) -> list[str]:
    """Where, when and of what: what stands above whatever is shown of a run."""
    return [line for line in (*stats.provenance(trials), about_hosts(run)) if line]


def md(text: str) -> str:
    """Text that Markdown shows as it is: on one line, and neither markup, HTML nor an address to be followed."""
    return _begin(_inline(" ".join(text.split())))


def sentence(text: str) -> str:
    """The same of a sentence, in which words between backticks stay code."""
    parts = code_spans.parts(" ".join(text.split()))
    return _begin("".join(_code(part) if is_code else _inline(part) for part, is_code in parts))


def _inline(text: str) -> str:
    """Escaped by backslashes, which every renderer knows of these; by references what is markup to some alone.

    Generators of sites replace what is between braces, such as ``{{ x }}`` of Liquid, before they render.
    """
    marked = re.sub(r"([\\`*_\[\]|#])", r"\\\1", html.escape(printable(text), quote=False))
    marked = TEMPLATE.sub("&#123;", marked)
    return marked.replace("~", "&#126;").replace("$", "&#36;").replace("://", "&#58;//")


def _code(text: str) -> str:
    """A code span, unless there is something in it that renderers do not agree on."""
    shown = printable(text)
    return f"`{shown}`" if not (re.search(r"[\\<>&|]", shown) or TEMPLATE.search(shown)) else _inline(f"`{text}`")


def _begin(text: str) -> str:
    """Without what would make a list or a rule of it."""
    return re.sub(r"^(?:([-+])(?=[-+\s]|$)|(\d{1,9})([.)])(?=\s|$))", _with_backslash, text)


def _with_backslash(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}"
