"""Parts of a page in HTML. Whatever came from a host or a file passes through :func:`escape` first."""

import html
from collections.abc import Iterable, Iterator, Sequence

from lab.base.untrusted import printable
from lab.report.markdown import code_spans
from lab.report.tables import TextTable


def escape(text: str) -> str:
    """Text that a browser shows as it is: no markup, and nothing that turns the direction of what follows."""
    return html.escape(printable(text))


def sentence(text: str) -> str:
    """The same of a sentence, in which words between backticks are code."""
    shown = ((escape(part), is_code) for part, is_code in code_spans(text))
    return "".join(f"<code>{part}</code>" if is_code else part for part, is_code in shown)


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of sentences; nothing where there is no text."""
    named = f' class="{kind}"' if kind else ""
    return f"<p{named}>{sentence(text)}</p>" if text else ""


def folded(summary: str, inner: str, name: str = "", level: int = 3) -> str:
    """What is shown when its summary is clicked on; ``inner`` is HTML already, and ``name`` an anchor of ours."""
    anchor = f' id="{name}"' if name else ""
    heading = f"<h{level}>{escape(summary)}</h{level}>" if level else escape(summary)
    return f"<details{anchor}><summary>{heading}</summary>\n{inner}</details>"


def listed(sentences: Iterable[str]) -> str:
    """A list of sentences; nothing where there is none."""
    items = [f"<li>{sentence(text)}</li>" for text in sentences]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def answers(answers: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Sentences below what they are about."""
    parts = [
        f"<dt>{escape(name)}</dt>{''.join(f'<dd>{sentence(text)}</dd>' for text in texts)}" for name, texts in answers
    ]
    return f'<dl class="answer">{"".join(parts)}</dl>'


def html_table(table: TextTable, title: str) -> str:
    """A table with ``title`` as its caption, and what is to be known of its numbers below it."""
    if not table.rows:
        return paragraph(table.caption, "note")
    name, kind = escape(title), ' class="text"' if table.is_text else ""
    factors = f' data-factors="{table.factors}"' if table.factors else ""
    headings = "".join(f'<th scope="col">{escape(text)}</th>' if text else "<td></td>" for text in table.headings)
    head = f"<thead><tr>{headings}</tr></thead>" if any(table.headings) else ""
    body = "".join(f"<tbody>\n{''.join(map(_row, group))}</tbody>" for group in _groups(table.rows))
    return (
        f'<div class="scroll" role="group" tabindex="0" aria-label="{name}">'
        f"<table{kind}{factors}><caption>{name}</caption>{head}{body}</table></div>{paragraph(table.caption, 'note')}"
    )


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
