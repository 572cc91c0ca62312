"""What a person sees of a run: tables on a terminal, answers, figures, pages and posts."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import markdown
import mistune
import numpy as np
from markdown_it import MarkdownIt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from rich.console import Console, RenderableType

from lab.report.answer import HEADING, answer
from lab.results import dataframe
from lab.results.run_folder import Trial
from support.synthetic_runs import RUN


class Like(str):
    """Equal to each text that it describes: ``...`` stands for any text, and ``....`` has a full stop first."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        parts = map(re.escape, re.split(r"\.{3}(?!\.)", self))
        return isinstance(other, str) and re.fullmatch(".*".join(parts), other, re.DOTALL) is not None

    def __ne__(self, other: object) -> bool:
        return not self == other


def lacking(text: str, *words: str) -> list[str]:
    """The words that a text lacks."""
    return [part for part in words if part not in text]


def rendered(*tables: RenderableType, width: int = 80) -> str:
    screen = io.StringIO()
    Console(file=screen, width=width, color_system=None).print(*tables)
    return screen.getvalue()


COMPLETE = RUN | {"ended": "complete", "sweep_file": "sweeps/demo.toml"}


def answer_of(trials: Sequence[Trial], **changes: Any) -> dict[str, str]:
    """The answer, one line for each heading."""
    return by_heading(answer(dataframe.frame(trials, COMPLETE | changes), "results/x"))


def by_heading(lines: Sequence[str]) -> dict[str, str]:
    """One line for each heading of an answer."""
    texts: dict[str, str] = {}
    heading = ""
    for line in lines:
        heading = line[:HEADING].strip() or heading
        texts[heading] = f"{texts.get(heading, '')} {line[HEADING:]}".strip()
    return texts


def png(figure: Figure) -> bytes:
    """A small picture, drawn once: ``savefig`` draws a figure twice."""
    drawing = io.BytesIO()
    figure.set_dpi(40)
    FigureCanvasAgg(figure).print_png(drawing)  # type: ignore[no-untyped-call]
    return drawing.getvalue()


def marks(axes: Axes) -> np.ndarray[Any, Any]:
    """The places of all scattered marks of a panel."""
    offsets = [np.asarray(some.get_offsets()) for some in axes.collections if isinstance(some, PathCollection)]
    return np.vstack([places for places in offsets if len(places)])


def row_names(axes: Axes) -> list[str]:
    """The names of rows from the top down: no other text is on the baseline beside its place."""
    return [text.get_text() for text in axes.texts if text.get_verticalalignment() == "center_baseline"]


def footer(figure: Figure) -> Any:
    return figure._supxlabel  # type: ignore[attr-defined]  # matplotlib has no public way to the text


def words_of_marks(svg: Path) -> list[str]:
    """The words of each mark of a drawing, without the figure's own title, which comes first."""
    titles = ElementTree.fromstring(svg.read_text()).iter("{http://www.w3.org/2000/svg}title")
    return [title.text or "" for title in titles][1:]


class Page(HTMLParser):
    """A page: its tags, attributes, addresses, words and scripts. If ``is_strict``, elements must close in order."""

    def __init__(self, text: str, is_strict: bool = True) -> None:
        super().__init__()
        self.is_strict = is_strict
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.opened: list[str] = []
        self.feed(text)
        self.close()
        assert not (is_strict and self.opened)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in LOADING]
        if tag not in ("meta", "img"):
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.is_strict:
            assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.opened and self.opened[-1] in ("script", "style"):
            self.scripts.append(data)


_MISTUNE = mistune.create_markdown(escape=False, plugins=["table"])
RENDERERS: dict[str, Callable[[str], str]] = {
    "markdown-it-py": MarkdownIt("commonmark").enable("table").render,
    "mistune": lambda text: str(_MISTUNE(text)),
    "Python-Markdown": lambda text: markdown.markdown(text, extensions=["tables"]),
}
LOADING = ("src", "href", "srcset", "data", "action", "poster", "background")
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


def read_alike(text: str) -> Seen:
    """What three renderers show of some Markdown, which must be the same."""
    seen = {name: _Reader(render(text)).seen for name, render in RENDERERS.items()}
    first = seen["mistune"]
    assert [name for name in seen if seen[name] != first] == []
    return first


def without_front_matter(text: str) -> str:
    return re.sub(r"\A(---|\+\+\+)\n.*?\n\1\n", "", text, flags=re.DOTALL)
