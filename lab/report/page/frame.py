"""The frame of a page: one file that fetches nothing, whose only style and script are the lab's own, by their hash."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.report.page import colours
from lab.report.page.text import escape

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Parts:
    """The parts of a page, as HTML already: what stands above, in the middle, and at the end."""

    header: Iterable[str]
    main: Iterable[str]
    footer: Iterable[str] = ()


def document(title: str, parts: Parts, contents: Mapping[str, str]) -> str:
    """A page with this title as its heading; ``contents`` are the titles of its sections by their anchors."""
    name = escape(title)
    links = "".join(f'<li><a href="#{anchor}">{escape(text)}</a></li>' for anchor, text in contents.items())
    body = [
        '<a class="skip" href="#main">Skip to the answer</a>',
        f"<header><h1>{name}</h1>",
        *parts.header,
        "</header>",
        f'<nav aria-labelledby="contents"><h2 id="contents">On this page</h2><ul>{links}</ul></nav>',
        '<main id="main" tabindex="-1">',
        *parts.main,
        "</main>",
        *(["<footer>", *parts.footer, "</footer>"] if parts.footer else []),
        f"<script>{script()}</script>",
    ]
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
    return (FOLDER / "page.css").read_text(encoding="utf-8") + colours.rules()


@functools.cache
def script() -> str:
    """The only script of every page, without which it is complete too."""
    return (FOLDER / "page.js").read_text(encoding="utf-8")


def policy() -> str:
    """What the browser itself is told: to fetch nothing, and to run nothing else, whatever a host put into it."""
    return f"default-src 'none'; img-src data:; style-src '{_hash(style())}'; script-src '{_hash(script())}'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
