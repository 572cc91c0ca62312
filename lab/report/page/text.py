"""Text on a page. Whatever came from a host or a file passes through :func:`escape` first."""

from __future__ import annotations

import html

from lab.base.untrusted import printable
from lab.report import code_spans


def escape(text: str) -> str:
    """Text that a browser shows as it is: no markup, and nothing that turns the direction of what follows."""
    return html.escape(printable(text))


def sentence(text: str) -> str:
    """The same of a sentence, in which words between backticks are code."""
    shown = ((escape(part), is_code) for part, is_code in code_spans.parts(text))
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
