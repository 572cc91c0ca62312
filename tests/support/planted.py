"""Text on which a terminal, a page or a spreadsheet would act, in every field of a type, and checks of output.

The fields come from the types themselves, so a new field needs no new line here."""

import csv
import dataclasses
import io
import json
import re
import typing
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import Any
from xml.etree import ElementTree

import pytest
from pydantic import BaseModel

from lab.cli import main as cli
from lab.design.factors import OPTIONS
from lab.platforms import Facts
from lab.report.page import html as page_html
from lab.results.effective import Effective
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.results.trial import _RUN_TYPES, WORDS, Trial
from support.rendered import Page, Seen, read_alike, without_front_matter
from support.synthetic_runs import RUN, trial, write_run

BIDI = "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad\U000e0041"
EVIL = (
    "plant\x1b]52;c;Y3VybA==\x07\x1b]0;owned\x1b\\\x1b[2J\x9b31m\x90q\x85\x08\x7f\u2028" + BIDI + "<script>alert(1)"
    '</script><img src=x onerror=alert(1)>--></pre></svg>[red]x[/red] ![a](http://b) `x` |x|;=1;"=1\t@1 $x$ '
    "\nforged\r\nforged\rforged"
)
# beginnings of cells that spreadsheets take as formulas
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
POST_ELEMENTS = {
    "h1", "h2", "h3", "p", "strong", "ul", "li", "a", "img", "code", "table", "thead", "tbody", "tr", "th", "td", "pre",
}  # fmt: skip
FOLDED = {"details", "summary", "pre"}
BESIDE_A_POST = {"report.html", "post.md", "post-appendix.md", "table.csv"}
ADDRESS = re.compile(r"#[\w.-]+|data:(image/png|text/csv;charset=utf-8|application/json);base64,[\w+/=\s]+")
NUMBER = re.compile(r"-?[0-9.]+(e[-+]?[0-9]+)?")


def planted(hint: Any, text: str) -> Any:
    """JSON of a type with ``text`` wherever text can be, also as keys; None if text can be nowhere."""
    is_union = isinstance(hint, UnionType) or typing.get_origin(hint) is typing.Union
    for member in typing.get_args(hint) if is_union else [hint]:
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
    """JSON of a dataclass with ``text`` in each field that can hold text; the keys of ``other`` stand beside them."""
    values = {name: planted(hint, text) for name, hint in typing.get_type_hints(cls).items()}
    others = values.pop("other", None) or {}
    return {**{name: value for name, value in values.items() if value is not None}, **others}


def leaves(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of each value in JSON."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield from leaves(value, (*path, key))
    if not isinstance(node, dict | list):
        yield path


def replaced(node: Any, path: tuple[str | int, ...], text: str) -> Any:
    """A copy of JSON with ``text`` at a path."""
    copy = json.loads(json.dumps(node))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = text
    return copy


def keys_of(model: type[BaseModel], section: str = "") -> Iterator[tuple[str, str]]:
    """Section and name of each key of an input file's model."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from keys_of(kind, name)
        else:
            yield section, name


def assert_plain(text: str, *, lines: bool = True) -> None:
    """Nothing acts on a terminal; with ``lines``, no plant begins a line of its own."""
    acting = {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")} - {"\n"}
    assert not acting - {"\t"}, sorted(map(ascii, acting))
    if lines:
        assert not [line for line in text.splitlines() if line.strip().startswith("forged")], text[:3000]


def assert_no_formula(table: str) -> None:
    """Nothing in a CSV file is a formula, whichever delimiter a spreadsheet uses."""
    assert_plain(table, lines=False)
    for sign in ",;\t":
        cells = [cell for row in csv.reader(io.StringIO(table), delimiter=sign) for cell in row]
        assert not [cell for cell in cells if FORMULA.match(cell) and not NUMBER.fullmatch(cell)]


def assert_page_of_the_labs(page: str) -> None:
    """A page has only elements, attributes, addresses, styles and scripts of the lab."""
    assert_plain(page, lines=False)
    read = Page(page)
    assert set(read.tags) <= ELEMENTS, set(read.tags) - ELEMENTS
    assert read.attributes <= ATTRIBUTES, read.attributes - ATTRIBUTES
    assert not [link for link in read.links if not ADDRESS.fullmatch(link)]
    assert read.scripts == [page_html.style(), page_html.script()]
    assert page.count("<script") == page.count("<style") == 1


def assert_drawing(svg: str) -> None:
    """An SVG only draws."""
    assert_plain(svg, lines=False)
    for element in ElementTree.fromstring(svg).iter():
        if isinstance(element.tag, str):
            assert not re.fullmatch("script|foreignObject|animate.*|set|a|iframe", element.tag.rpartition("}")[2])
        for name, value in element.attrib.items():
            assert not name.rpartition("}")[2].lower().startswith("on")
            assert name.rpartition("}")[2] != "href" or value.startswith(("#", "data:image/png;base64,"))


def assert_post(post: str, *, folded: bool = False) -> Seen:
    """A post has only the lab's markup, and three renderers show it alike; returns what they show.

    With ``folded`` it may have folded parts, which are HTML.
    """
    assert_plain(post)
    assert folded or "<" not in post
    seen = read_alike(without_front_matter(post))
    assert seen.elements <= POST_ELEMENTS | (FOLDED if folded else set()), seen.elements - POST_ELEMENTS
    assert not [address for address, _ in seen.links if address not in BESIDE_A_POST]
    assert not [source for source, _ in seen.images if not re.fullmatch(r"figures/[\w-]+\.png", source)]
    assert not [table for table in seen.tables if len(set(map(len, table))) != 1]
    return seen


KEYS = (*_RUN_TYPES, "schema", EVIL)  # of run.json


def lab(capsys: pytest.CaptureFixture[str], *argv: str | Path, lines: bool = True) -> str:
    """Check and return the output of a command; without ``lines``, messages may have several lines."""
    with suppress(SystemExit):  # of argparse
        cli.main([str(word) for word in argv])
    printed = capsys.readouterr()
    assert_plain(printed.out, lines=argv[0] not in ("show", "compare", "history"))  # a table wraps what is long
    assert_plain(printed.err, lines=lines)
    assert "Traceback" not in printed.err
    return printed.out + printed.err


def planted_trials(base: Trial, start: str) -> list[dict[str, Any]]:
    """Trials with a text in every field that takes any, and few levels of each factor."""
    rows = []
    for number, own in enumerate(TEXTS):
        text = EVIL if number % 2 else start
        fields = {name: value for name, value in planted_fields(Trial, text).items() if name not in WORDS}
        row = base.to_json() | fields
        protocol = "afp" if number % 4 < 2 else text
        options = dict.fromkeys([text, f"{protocol}.{EVIL}", *list(OPTIONS)[number % 4 :: 4]], text)
        everywhere = dict.fromkeys(typing.get_type_hints(Observed), text) if number % 2 else row["observed"]
        in_effect = dict.fromkeys(typing.get_type_hints(Effective), text) if number % 2 else row["effective"]
        row |= {"trial_id": f"{own}{number}", "started_at": base.started_at, "protocol": protocol, "reason": own}
        row |= {"options": options, "observed": everywhere, "effective": in_effect, "block": number // 4 + 1}
        rows.append(row | {"status": ("ok", "ok", "ok", "void", "failed")[number % 5]})
    return rows


def planted_run(text: str, **more: Any) -> dict[str, Any]:
    run = {name: planted(next(iter(kinds)), text) for name, kinds in _RUN_TYPES.items()}
    facts = dict.fromkeys(typing.get_type_hints(Facts), text) | {text: text, "platform": "linux"}
    hosts = {"client": facts, "server": facts, text: facts}
    fixed = {"seed": 1, "ceiling_shots": 2, "payload_bytes": 2**20, "ordering": "mirrored", "schema": 2}
    fixed |= {"hosts": hosts, "failed": True}
    return run | fixed | {"left_out": {text: text}, "caveats": {"ram": text, text: text}, text: text} | more


def write_planted(name: str, text: str = EVIL, **run: Any) -> Path:
    path = Path("results") / name
    path.mkdir(parents=True)
    (path / "run.json").write_text(json.dumps(planted_run(text, **run)))
    rows = planted_trials(trial(), text)
    text_of_file = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (path / "trials.jsonl").write_text(text_of_file, encoding="utf-8", newline="")
    return path


def runs_with(key: str) -> Iterator[RunFolder]:
    """Run folders with a plant in one key of run.json: as text, in a list, and in objects."""
    for number, value in enumerate((EVIL, [EVIL], {EVIL: EVIL}, {"client": {EVIL: EVIL}})):
        folder = write_run(Path("results") / str(number), [trial()])
        (folder.path / "run.json").write_text(json.dumps({**RUN, "schema": 2, "name": "x", key: value}))
        yield folder
