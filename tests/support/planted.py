"""Text that a terminal, a page or a spreadsheet would act on, in every field of a type; and what of it shows in output.

The fields are taken from the types themselves, so that a new field is planted without a new line here.
"""

import csv
import dataclasses
import io
import json
import re
import typing
import unicodedata
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from types import UnionType
from typing import Any
from xml.etree import ElementTree

from pydantic import BaseModel

from lab.report.page import html as page_html
from support.markdown_renderers import Seen, read_alike, without_front_matter

BIDI = "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad\U000e0041"
EVIL = (
    "plant\x1b]52;c;Y3VybA==\x07\x1b]0;owned\x1b\\\x1b[2J\x9b31m\x90q\x85\x08\x7f\u2028" + BIDI + "<script>alert(1)"
    '</script><img src=x onerror=alert(1)>--></pre></svg>[red]x[/red] ![a](http://b) `x` |x|;=1;"=1\t@1 $x$ '
    "\nforged\r\nforged\rforged"
)
# how a cell begins that a spreadsheet takes for a formula
STARTS = ("", "=cmd|' /C calc'!A0", "+1+", "-1-", "@SUM(1)", "\t=1", "\r=1", "\n=1", ";=1", '"=1', " =1", "\uff1d1")
TEXTS = tuple(start + EVIL for start in STARTS)
FORMULA = re.compile(r"[\s\"]*[=+\-@\uff1d\uff0b\uff0d\uff20]")
ELEMENTS = {
    "html", "head", "meta", "title", "style", "script", "body", "header", "nav", "main", "footer", "section", "h1",
    "h2", "h3", "p", "strong", "a", "ul", "li", "dl", "dt", "dd", "div", "details", "summary", "table", "caption",
    "thead", "tbody", "tr", "th", "td", "pre", "code", "figure", "figcaption",
    "svg", "desc", "defs", "g", "path", "use", "text", "tspan", "circle", "rect", "clippath", "image",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "role", "tabindex", "aria-label",
    "aria-labelledby", "aria-describedby", "aria-hidden", "scope", "colspan", "data-factors", "download", "type",
    "viewbox", "d", "x", "y", "cx", "cy", "r", "width", "height", "transform", "clip-path", "pointer-events",
    "fill", "fill-opacity", "opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-linejoin", "stroke-linecap",
    "stroke-dasharray", "stroke-dashoffset", "font-size", "font-weight", "text-anchor",
}  # fmt: skip
OF_POSTS = {
    "h1", "h2", "h3", "p", "strong", "ul", "li", "a", "img", "code", "table", "thead", "tbody", "tr", "th", "td", "pre",
}  # fmt: skip
FOLDED = {"details", "summary", "pre"}
BESIDE_A_POST = {"report.html", "post.md", "post-appendix.md", "table.csv"}
ADDRESS = re.compile(r"#[\w.-]+|data:(image/png|text/csv;charset=utf-8|application/json);base64,[\w+/=\s]+")
NUMBER = re.compile(r"-?[0-9.]+(e[-+]?[0-9]+)?")


def planted(hint: Any, text: str) -> Any:
    """JSON of a type with ``text`` wherever text can stand, as keys too; None where no text can stand."""
    members = (
        typing.get_args(hint) if isinstance(hint, UnionType) or typing.get_origin(hint) is typing.Union else [hint]
    )
    for member in members:
        origin = typing.get_origin(member) or member
        if origin is typing.Annotated:
            return planted(typing.get_args(member)[0], text)
        if dataclasses.is_dataclass(member):
            return planted_fields(member, text)
        if isinstance(origin, type) and issubclass(origin, str):
            return text
        if origin in (tuple, list):
            return [planted(kind, text) for kind in typing.get_args(member)[:1]]
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {text: planted(typing.get_args(member)[1], text) if typing.get_args(member) else text}
    return None


def planted_fields(cls: Any, text: str) -> dict[str, Any]:
    """The same for each field of a dataclass that can hold text; the keys of ``other`` stand beside them."""
    values = {name: planted(hint, text) for name, hint in typing.get_type_hints(cls).items()}
    others = values.pop("other", None) or {}
    return {**{name: value for name, value in values.items() if value is not None}, **others}


def leaves(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of each value in some JSON."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield from leaves(value, (*path, key))
    if not isinstance(node, dict | list):
        yield path


def replaced(node: Any, path: tuple[str | int, ...], text: str) -> Any:
    """A copy of some JSON with ``text`` at a path."""
    copy = json.loads(json.dumps(node))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = text
    return copy


def keys_of(model: type[BaseModel], section: str = "") -> Iterator[tuple[str, str]]:
    """Section and name of each key of a model of an input file."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from keys_of(kind, name)
        else:
            yield section, name


def assert_plain(text: str, *, lines: bool = True) -> None:
    """Nothing in it acts on a terminal; with ``lines``, no plant began a line of its own."""
    acting = {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")} - {"\n"}
    assert not acting - {"\t"}, sorted(map(ascii, acting))
    if lines:
        assert not [line for line in text.splitlines() if line.strip().startswith("forged")], text[:3000]


def assert_no_formula(table: str) -> None:
    """Nothing in a CSV file is a formula, whatever sign a spreadsheet takes for the one between cells."""
    assert_plain(table, lines=False)
    for sign in ",;\t":
        cells = [cell for row in csv.reader(io.StringIO(table), delimiter=sign) for cell in row]
        assert not [cell for cell in cells if FORMULA.match(cell) and not NUMBER.fullmatch(cell)]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.sources: set[str] = set()
        self.scripts: list[str] = []
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.sources |= {value or "" for name, value in attrs if name in ("src", "href")}

    def handle_data(self, data: str) -> None:
        if self._in in ("script", "style"):
            self.scripts.append(data)
            self._in = ""


def assert_page_of_the_labs(page: str) -> None:
    """A page has no element, attribute, address, style and script but the lab's own."""
    assert_plain(page, lines=False)
    tags = _Tags()
    tags.feed(page)
    assert tags.elements <= ELEMENTS, tags.elements - ELEMENTS
    assert tags.attributes <= ATTRIBUTES, tags.attributes - ATTRIBUTES
    assert not [source for source in tags.sources if not ADDRESS.fullmatch(source)]
    assert tags.scripts == [page_html.style(), page_html.script()]
    assert page.count("<script") == page.count("<style") == 1


def assert_drawing(svg: str) -> None:
    """An SVG draws, and does nothing else."""
    assert_plain(svg, lines=False)
    for element in ElementTree.fromstring(svg).iter():
        if isinstance(element.tag, str):
            assert not re.fullmatch("script|foreignObject|animate.*|set|a|iframe", element.tag.rpartition("}")[2])
        for name, value in element.attrib.items():
            assert not name.rpartition("}")[2].lower().startswith("on")
            assert name.rpartition("}")[2] != "href" or value.startswith(("#", "data:image/png;base64,"))


def assert_post(post: str, *, folded: bool = False) -> Seen:
    """A post has no markup but the lab's own, and three renderers show the same of it; what they show.

    With ``folded`` it may have what is folded, too; else no HTML at all.
    """
    assert_plain(post)
    assert folded or "<" not in post
    seen = read_alike(without_front_matter(post))
    assert seen.elements <= OF_POSTS | (FOLDED if folded else set()), seen.elements - OF_POSTS
    assert not [address for address, _ in seen.links if address not in BESIDE_A_POST]
    assert not [source for source, _ in seen.images if not re.fullmatch(r"figures/[\w-]+\.png", source)]
    assert not [table for table in seen.tables if len(set(map(len, table))) != 1]
    return seen
