"""Texts and tables for notebooks, and Jupyter's display functions with types."""

import base64
from collections.abc import Sequence
from typing import Protocol

from matplotlib.figure import Figure

from lab.base.untrusted import printable
from lab.report.figures.files import png_of
from lab.report.markdown import markdown_table
from lab.report.page.html import escape, folded, html_table
from lab.report.tables import TextTable

WRAPPED = "white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"
LEFT = "<style>table.text :is(th, td) { text-align: left !important; }</style>"  # Jupyter aligns all to the right
SCREEN_DPI = 100  # a figure has twice as many pixels per inch as it is shown with


class Table:
    """A table of a report with its caption; a long table may be ``folded``."""

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
    """Figures, tables and texts as one output, one below the other."""

    def __init__(self, parts: Sequence[object]):
        self.parts = parts

    def __repr__(self) -> str:
        """The parts as text; a figure as its size."""
        return "\n\n".join(map(repr, self.parts))

    def _repr_html_(self) -> str:
        """The parts as HTML with pictures of the figures."""
        return "\n".join(map(_as_html, self.parts))


def _as_html(part: object) -> str:
    if isinstance(part, Figure):
        picture = base64.b64encode(png_of(part)).decode()
        width = round(part.get_size_inches()[0] * SCREEN_DPI)
        title = next((legend.get_title().get_text() for legend in part.legends), "a figure")
        return f'<img alt="{escape(title)}" width="{width}" src="data:image/png;base64,{picture}">'
    as_html = getattr(part, "_repr_html_", None)
    return str(as_html()) if as_html else f"<pre>{escape(repr(part))}</pre>"


class Text:
    """Lines of text."""

    def __init__(self, lines: Sequence[str] | str):
        self.text = printable(lines if isinstance(lines, str) else "\n".join(lines))

    def __repr__(self) -> str:
        """The text."""
        return self.text

    def _repr_html_(self) -> str:
        """The text in a fixed-width font with its long lines wrapped."""
        return f'<pre style="{WRAPPED}">{escape(self.text)}</pre>'


class Handle(Protocol):
    """An output that can be replaced, in any cell."""

    def update(self, shown: object) -> None:
        """Replace the output."""


def display(*shown: object, raw: bool = False) -> Handle:
    """Show objects, one below the other; a handle of the last one. ``raw`` objects are dicts of forms by media type."""
    from IPython.display import display as show  # comes with Jupyter only

    handles: list[Handle] = [show(part, raw=raw, display_id=True) for part in shown]  # type: ignore[no-untyped-call]
    return handles[-1]
