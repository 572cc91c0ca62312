"""A page and its parts in HTML. A page is one file that fetches nothing; its only style and script are the lab's own.

Whatever came from a host or a file passes through :func:`escape` first.
"""

import base64
import functools
import hashlib
import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from lab.base.untrusted import printable
from lab.report.markdown import code_spans
from lab.report.tables import TextTable

# The colours of figures on light and on dark paper. Every mark has a contrast of at least 3 to its paper and to a
# shaded row (WCAG 2.2, 1.4.11).
LIGHT, DARK = "#ffffff", "#15181c"
SHADES = ("#f4f4f4", "#20252b")
MARKS = {
    "#0072b2": ("#0072b2", "#4fa8e0"), "#d55e00": ("#c04f00", "#ff8d42"), "#009e73": ("#00805c", "#2fc394"),
    "#cc79a7": ("#b05a8c", "#e39cc6"), "#56b4e9": ("#2a86ba", "#7cc7f0"), "#e69f00": ("#a86f00", "#f0b43c"),
    "#000000": ("#000000", "#ffffff"), "#222222": ("#222222", "#e8e8e8"), "#8a8a8a": ("#767676", "#9a9a9a"),
    "#555555": ("#555555", "#b5b5b5"),
}  # fmt: skip
GROUNDS = {"#dddddd": ("#dddddd", "#3a3f45"), "#f4f4f4": SHADES, "#ffffff": (LIGHT, DARK)}
FOLDER = Path(__file__).parent


def page(title: str, header: Iterable[str], main: Iterable[str], footer: str, contents: Mapping[str, str]) -> str:
    """A page of parts in HTML with this title as its heading; ``contents`` are the titles of sections by anchor."""
    name = escape(title)
    links = "".join(f'<li><a href="#{anchor}">{escape(text)}</a></li>' for anchor, text in contents.items())
    skip = '<a class="skip" href="#main">Skip to the answer</a>'
    contents_list = f'<nav aria-labelledby="contents"><h2 id="contents">On this page</h2><ul>{links}</ul></nav>'
    body = [skip, f"<header><h1>{name}</h1>", *header, "</header>", contents_list, '<main id="main" tabindex="-1">']
    body += [*main, "</main>", *(["<footer>", footer, "</footer>"] if footer else []), f"<script>{script()}</script>"]
    head = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><style>{style()}</style></head>\n<body>\n'
    )
    return head + "\n".join(filter(None, body)) + "\n</body></html>\n"


@functools.cache
def style() -> str:
    """The style of every page."""
    return (FOLDER / "page.css").read_text(encoding="utf-8") + colour_rules()


@functools.cache
def script() -> str:
    """The only script of every page, which is complete without it too."""
    return (FOLDER / "page.js").read_text(encoding="utf-8")


def policy() -> str:
    """The Content-Security-Policy: the browser fetches nothing, and runs nothing else, whatever a host put into it."""
    return f"default-src 'none'; img-src data:; style-src '{_hash(style())}'; script-src '{_hash(script())}'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def colour_rules() -> str:
    """The rules of CSS that give a drawing inside a page its colours."""
    light, dark = (
        "".join(
            f'.figure [{part}="{colour}"] {{ {part}: {shown[scheme]} }}\n'
            for colour, shown in (MARKS | GROUNDS).items()
            for part in ("fill", "stroke")
        )
        for scheme in (0, 1)
    )
    return f"{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"


def escape(text: str) -> str:
    """Text that a browser shows as it is: no markup, and nothing that turns the direction of what follows."""
    return html.escape(printable(text))


def sentence(text: str) -> str:
    """A sentence that a browser shows as it is, except that words between backticks are code."""
    shown = ((escape(part), is_code) for part, is_code in code_spans(text))
    return "".join(f"<code>{part}</code>" if is_code else part for part, is_code in shown)


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of sentences; nothing where there is no text."""
    named = f' class="{kind}"' if kind else ""
    return f"<p{named}>{sentence(text)}</p>" if text else ""


def folded(summary: str, inner: str, name: str = "", level: int = 3) -> str:
    """HTML (``inner``) that is shown after a click on its summary; ``name`` is an anchor."""
    anchor = f' id="{name}"' if name else ""
    heading = f"<h{level}>{escape(summary)}</h{level}>" if level else escape(summary)
    return f"<details{anchor}><summary>{heading}</summary>\n{inner}</details>"


def listed(sentences: Iterable[str]) -> str:
    """A list of sentences, or an empty text."""
    items = [f"<li>{sentence(text)}</li>" for text in sentences]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def answers(answers: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Sentences, each list below its subject."""
    parts = [
        f"<dt>{escape(name)}</dt>{''.join(f'<dd>{sentence(text)}</dd>' for text in texts)}" for name, texts in answers
    ]
    return f'<dl class="answer">{"".join(parts)}</dl>'


def html_table(table: TextTable, title: str) -> str:
    """A table with ``title`` as its caption, and its own caption as a note below it."""
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
    """Whether a row is a heading for the rows below it, with a text only in its first cell."""
    return len(cells) > 1 and bool(cells[0]) and not any(cells[1:])


def _groups(rows: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    group: list[Sequence[str]] = []
    for row in rows:
        if group and is_heading(row) and not is_heading(group[-1]):
            yield group
            group = []
        group.append(row)
    if group:
        yield group
