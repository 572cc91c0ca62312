"""Text and tables as Markdown. Whatever came from a host or a file is escaped."""

import html
import re

from lab.base.untrusted import printable
from lab.report.tables import TextTable

CODE = re.compile(r"(?<!`)`([^`\s](?:[^`\n]*[^`\s])?)`(?!`)")
TEMPLATE = re.compile(r"\{(?=[{%:])")  # the begin of Liquid's, Hugo's and kramdown's own marks


def code_spans(text: str) -> list[tuple[str, bool]]:
    """The text in parts, each with whether it is code: what the lab's own sentences have between backticks."""
    return [(part, place % 2 == 1) for place, part in enumerate(CODE.split(text)) if part]


def markdown_table(table: TextTable) -> str:
    """A table in Markdown, without its caption."""
    column = "---" if table.is_text else "---:"
    rows = [list(map(md, table.headings)), ["---", *[column] * (len(table.headings) - 1)]]
    rows += [list(map(md, row)) for row in table.rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def md(text: str) -> str:
    """Text that Markdown shows as it is: on one line, and neither markup, HTML nor an address to be followed."""
    return _begin(_inline(" ".join(text.split())))


def sentence(text: str) -> str:
    """A sentence that Markdown shows as it is, except that words between backticks are code."""
    parts = code_spans(" ".join(text.split()))
    return _begin("".join(_code(part) if is_code else _inline(part) for part, is_code in parts))


def _inline(text: str) -> str:
    """Escape by backslashes what is markup to every renderer, and by references what is markup to some.

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
    """A backslash before what would make a list or a rule of the text."""
    return re.sub(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[-+](?:[-+\s]|$)))", r"\1\\", text)
