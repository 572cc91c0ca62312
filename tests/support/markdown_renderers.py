"""Markdown as three renderers show it: what a reader sees of it, so that it can be compared between them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser

import markdown
import mistune
from markdown_it import MarkdownIt

_MISTUNE = mistune.create_markdown(escape=False, plugins=["table"])
RENDERERS: dict[str, Callable[[str], str]] = {
    "markdown-it-py": MarkdownIt("commonmark").enable("table").render,
    "mistune": lambda text: str(_MISTUNE(text)),
    "Python-Markdown": lambda text: markdown.markdown(text, extensions=["tables"]),
}
BLOCKS = {"h1", "h2", "p", "li", "td", "th", "pre", "summary"}


@dataclass
class Seen:
    """What a reader sees: blocks of text with their kind, tables as rows of cells, images, addresses, and code."""

    blocks: list[tuple[str, str]] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    elements: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen, self._open, self._href = Seen(), list[tuple[str, list[str]]](), ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.elements.add(tag)
        values = {name: value or "" for name, value in attrs}
        if tag == "img":
            self.seen.images.append((values["src"], values["alt"]))
        elif tag == "table":
            self.seen.tables.append([])
        elif tag == "tr":
            self.seen.tables[-1].append([])
        self._href = values.get("href", self._href)
        self._open.append((tag, []))
        if tag in ("img", "hr", "br", "script"):
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self._open:  # a block in whose end somebody's tag was left open
            opened, parts = self._open.pop()
            if opened == tag:
                break
        else:
            return
        text = "".join(parts) if tag == "pre" else " ".join("".join(parts).split())
        if tag in ("td", "th"):
            self.seen.tables[-1][-1].append(text)
        elif tag == "a":
            self.seen.links.append((self._href, text))
        elif tag == "code" and (not self._open or self._open[-1][0] != "pre"):
            self.seen.code.append(text)
        if tag in BLOCKS and text:
            self.seen.blocks.append((tag, text.strip("\n")))
        elif self._open and tag not in BLOCKS:
            self._open[-1][1].append("".join(parts))

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1][1].append(data)


def read_all(text: str) -> dict[str, Seen]:
    """What each renderer shows of some Markdown, by its name."""
    return {name: _Reader(render(text)).seen for name, render in RENDERERS.items()}


def read_alike(text: str) -> Seen:
    """The same once, where all three show the same."""
    first, *others = read_all(text).items()
    for name, seen in others:
        assert seen == first[1], (first[0], name)
    return first[1]


def without_front_matter(text: str) -> str:
    """A post as a site renders it."""
    return re.sub(r"\A(---|\+\+\+)\n.*?\n\1\n", "", text, flags=re.DOTALL)
