"""What a notebook shows, beside figures and data frames: texts and the tables of a report."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from matplotlib.figure import Figure

from lab.base.untrusted import printable
from lab.report.figures.files import png_of
from lab.report.page.html_table import html_table
from lab.report.page.text import escape, folded
from lab.report.render import markdown_table
from lab.report.tables import TextTable

WRAPPED = "white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"
LEFT = "<style>table.text :is(th, td) { text-align: left !important; }</style>"  # Jupyter puts all to the right
SCREEN_DPI = 100  # at which a figure is shown: its pixels are those of a screen with twice as many


class Table:
    """A table of a report, with what is to be known of its numbers below it; a long one may be ``folded``."""

    def __init__(self, table: TextTable, title: str = "", *, folded: bool = False):
        self.table, self.title, self.folded = table, title, folded

    def __repr__(self) -> str:
        """The table as Markdown."""
        return printable("\n\n".join(filter(None, [self.title, markdown_table(self.table), self.table.caption])))

    def _repr_html_(self) -> str:
        """The table as HTML, which Jupyter shows."""
        inner = (LEFT if self.table.is_text else "") + html_table(self.table, self.title)
        return folded(f"{self.title} ({len(self.table.rows)} rows)", inner, level=0) if self.folded else inner


class Stack:
    """Figures, tables and texts, one below the other, as one output."""

    def __init__(self, parts: Sequence[object]):
        self.parts = parts

    def __repr__(self) -> str:
        """The parts as text; a figure by its size."""
        return "\n\n".join(map(repr, self.parts))

    def _repr_html_(self) -> str:
        """The parts as HTML, figures as pictures in it."""
        return "\n".join(map(_as_html, self.parts))


def _as_html(part: object) -> str:
    if isinstance(part, Figure):
        picture = base64.b64encode(png_of(part)).decode()
        width = round(part.get_size_inches()[0] * SCREEN_DPI)
        return f'<img alt="{escape(_title_of(part))}" width="{width}" src="data:image/png;base64,{picture}">'
    as_html = getattr(part, "_repr_html_", None)
    return str(as_html()) if as_html else f"<pre>{escape(repr(part))}</pre>"


def _title_of(figure: Figure) -> str:
    return next((legend.get_title().get_text() for legend in figure.legends), "a figure")


class Text:
    """Lines of text, shown as they are."""

    def __init__(self, lines: Sequence[str] | str):
        self.text = printable(lines if isinstance(lines, str) else "\n".join(lines))

    def __repr__(self) -> str:
        """The text."""
        return self.text

    def _repr_html_(self) -> str:
        """The text in letters of one width, its lines wrapped where they must."""
        return f'<pre style="{WRAPPED}">{escape(self.text)}</pre>'
