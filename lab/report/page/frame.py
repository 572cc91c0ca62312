"""The frame of a page: one file that fetches nothing, whose only style and script are the lab's own, by their hash."""

import base64
import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from lab.report.page.html import escape

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
    body = [
        '<a class="skip" href="#main">Skip to the answer</a>',
        f"<header><h1>{name}</h1>",
        *header,
        "</header>",
        f'<nav aria-labelledby="contents"><h2 id="contents">On this page</h2><ul>{links}</ul></nav>',
        '<main id="main" tabindex="-1">',
        *main,
        "</main>",
        *(["<footer>", footer, "</footer>"] if footer else []),
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
    return (FOLDER / "page.css").read_text(encoding="utf-8") + colour_rules()


@functools.cache
def script() -> str:
    """The only script of every page, without which it is complete too."""
    return (FOLDER / "page.js").read_text(encoding="utf-8")


def policy() -> str:
    """What the browser itself is told: to fetch nothing, and to run nothing else, whatever a host put into it."""
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
