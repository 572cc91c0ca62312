"""One writer for what people read: chapters and sections, as HTML, as Markdown, or drawn; it escapes all texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from lab.base.durable import Folder
from lab.base.untrusted import one_line
from lab.report.markdown import markdown_table, md, sentence
from lab.report.page import html
from lab.report.page.html import escape
from lab.report.tables import TextTable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lab.report.figures import Figure


@dataclass(frozen=True)
class Section:
    """One part: a title, a conclusion, words about it, the name of a figure, and tables.

    A page shows the section in the chapter of its ``question``: open if it ``leads``, else folded.
    """

    title: str
    text: str = ""
    figure: str = ""
    tables: Sequence[TextTable] = ()
    conclusion: str = ""
    question: str = "more"
    leads: bool = False


@dataclass(frozen=True)
class Chapter:
    """A heading, and below it: answers by what they are about, a list, a text, sections, and ``more``, as HTML."""

    name: str
    title: str
    answers: Sequence[tuple[str, Sequence[str]]] | None = None
    listed: Sequence[str] | None = None
    text: str | None = None
    sections: Sequence[Section] = ()
    more: Sequence[str] = ()


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, and what it shows ``in_words``; ``behind`` says where its numbers are."""

    svg: bytes
    in_words: str
    behind: str = ""


@dataclass(frozen=True)
class Document:
    """A title, lines and warnings below it, and chapters; ``pictures`` are the figures of the sections by name.

    ``is_of_run``: a leading section has its tables folded, and its text before the figure in Markdown.
    """

    title: str
    where: Sequence[str]
    chapters: Sequence[Chapter]
    warnings: Sequence[str] = ()
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    footer: str = ""
    is_of_run: bool = False

    def to_html(self) -> str:
        """The document as one file that needs no network."""
        header = [html.paragraph(line, "where") for line in self.where]
        header += [f"<p><strong>{html.sentence(warning)}</strong></p>" for warning in self.warnings]
        main, footer = map(self._chapter, self.chapters), html.paragraph(self.footer, "note")
        return html.page(self.title, header, main, footer, {chapter.name: chapter.title for chapter in self.chapters})

    def _chapter(self, chapter: Chapter) -> str:
        parts = [f'<section id="{chapter.name}"><h2>{html.escape(chapter.title)}</h2>']
        parts += [html.answers(chapter.answers)] if chapter.answers is not None else []
        parts += [html.listed(chapter.listed)] if chapter.listed is not None else []
        parts += [html.paragraph(chapter.text)] if chapter.text is not None else []
        parts += [text for section in chapter.sections for text in self._section(section)]
        return "\n".join([*parts, *chapter.more, "</section>"])

    def _section(self, section: Section) -> Iterator[str]:
        conclusion, figure = html.paragraph(section.conclusion), self._figure(section)
        tables = [
            html.html_table(table, section.title if not number else f"{section.title} ({number + 1})")
            for number, table in enumerate(section.tables)
        ]
        if section.leads and self.is_of_run:
            yield from [conclusion, figure, *([] if figure else [html.paragraph(section.text, "note")])]
            if inner := "\n".join(tables):
                yield html.folded(f"{section.title}: the table" if figure else section.title, inner)
            return
        parts = [conclusion, "" if figure else html.paragraph(section.text), figure, *tables]
        inner = "\n".join(parts if self.is_of_run else filter(None, parts))
        yield inner if section.leads else html.folded(section.title, inner)

    def _figure(self, section: Section) -> str:
        if not section.figure:
            return ""
        picture = self.pictures[section.figure]
        about = " ".join(filter(None, [picture.in_words, picture.behind]))
        drawing = inline(picture.svg, section.figure, section.title, about)
        return f"<figure>{drawing}<figcaption>{html.sentence(section.text)}</figcaption></figure>"

    def to_markdown(self) -> str:
        """The document as a post, with its figures beside it."""
        return join([f"# {md(self.title)}", *map(md, self.where), *self.markdown_blocks()])

    def markdown_blocks(self) -> Iterator[str]:
        """The blocks of the post below its title."""
        for chapter in self.chapters:
            yield f"## {md(chapter.title)}"
            bullets = [*(text for _, texts in chapter.answers or () for text in texts), *(chapter.listed or ())]
            yield "\n".join(f"- {sentence(text)}" for text in bullets)
            yield sentence(chapter.text or "")
            for section in chapter.sections:
                yield f"### {md(section.title)}" if section.title != chapter.title else ""
                picture = image(section.figure, self.pictures[section.figure].in_words) if section.figure else ""
                words = sentence(f"{section.conclusion} {section.text}")
                yield from (words, picture) if self.is_of_run else (picture, words)
                for table in section.tables:
                    yield from (markdown_table(table) if table.rows else "", sentence(table.caption))


def join(parts: Iterable[str]) -> str:
    """Blocks of Markdown, with an empty line between any two."""
    return "\n\n".join(filter(None, parts)) + "\n"


def image(figure: str, in_words: str) -> str:
    """A figure beside the file, with what it shows in words; Markdown cannot say how wide a picture is drawn."""
    return f"![{md(in_words)}](figures/{figure}.png)"


def draw_figures(figures: Mapping[str, Figure], place: Folder) -> dict[str, bytes]:
    """Write every figure as PNG and SVG; the SVG of each by name. The same figures give the same bytes."""
    from lab.report.figures.files import png_of, svg_of

    drawings = {}
    for name, figure in figures.items():
        place.replace(f"{name}.png", png_of(figure))
        figure.set_layout_engine("none")  # everything has its place by now
        drawings[name] = svg_of(figure, name)
        place.replace(f"{name}.svg", drawings[name])
    return drawings


def on_screen(
    sentences: Iterable[str], tables: Iterable[TextTable], where: Sequence[str] = (), after: Iterable[str] = ()
) -> list[RenderableType]:
    """Sentences, tables that have rows with ``where`` below each, and more sentences: for a terminal."""
    from rich.text import Text

    from lab.report.fitted_table import rich_table

    drawn = [rich_table(table, where) for table in tables if table.rows]
    before, behind = (Text("\n".join(map(one_line, lines))) for lines in (sentences, after))
    return [before, *drawn, *([behind] if behind else [])]


SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
DROPPED = ("metadata", "style", "title")
FINER = re.compile(r"(\.\d\d)\d+")  # than a hundredth of a point: half of the bytes of a figure
SIGN_PX, LONGEST_TIP = 4.6, 118  # width of a character, and characters of a value beside its mark
ElementTree.register_namespace("", SVG[1:-1])


def inline(svg: bytes, name: str, title: str, about: str) -> str:
    """The drawing as an element of HTML with this title; ``about`` describes it in words."""
    root = ElementTree.fromstring(svg)  # noqa: S314  # the lab's own drawing
    _tidy(root)
    for shape in root.iterfind(".//defs/*"):
        shape.attrib.pop("stroke", None)  # the page's style does not reach it, and its users have the same
    _drop_unused_names(root, name)
    for mark in _marks_on_top(root):
        _show_value(mark, float(root.get("viewBox", "0 0 576 0").split()[2]))
    for place, (kind, text) in enumerate((("title", title), ("desc", about))):
        element = ElementTree.Element(kind, {"id": f"{name}-{kind}"})
        element.text = text
        root.insert(place, element)
    looks = {"class": "figure", "role": "group", "aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-desc"}
    root.attrib = {**looks, "viewBox": root.get("viewBox", "")}
    drawn = re.sub(r">\s+<", "><", ElementTree.tostring(root, encoding="unicode"))
    return f'<div class="scroll" role="group" tabindex="0" aria-label="{escape(title)}">{drawn}</div>'


def _tidy(element: ElementTree.Element) -> None:
    """Elements without a namespace, as HTML has them; looks as attributes; nothing that is not drawn."""
    element.tag = element.tag.removeprefix(SVG)
    declarations = (part.partition(":") for part in element.attrib.pop("style", "").split(";") if part.strip())
    looks = {name.strip(): value.strip() for name, _, value in declarations}
    looks.pop("font-family", None)
    element.attrib = {key.removeprefix(XLINK): value for key, value in element.attrib.items()} | looks
    for key in {"d", "x", "y", "transform"} & element.attrib.keys():
        element.set(key, FINER.sub(r"\1", " ".join(element.get(key, "").split())))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for child in list(element):
        if child.tag.removeprefix(SVG) in DROPPED and element.get("class") != "mark":
            element.remove(child)
        else:
            _tidy(child)


def _drop_unused_names(root: ElementTree.Element, name: str) -> None:
    """Keep the ids that others refer to, with the figure's name before them because a page has several figures."""
    references = [
        (element, key, value)
        for element in root.iter()
        for key in ("href", "clip-path")
        if "#" in (value := element.get(key, "")) and not value.startswith("data:")
    ]
    used = {anchor for *_, value in references for anchor in re.findall(r"#([\w.-]+)", value)}
    for element in root.iter():
        if (anchor := element.attrib.pop("id", "")) in used:
            element.set("id", f"{name}-{anchor}")
    for element, key, value in references:
        element.set(key, value.replace("#", f"#{name}-"))


def _marks_on_top(root: ElementTree.Element) -> list[ElementTree.Element]:
    """Move every mark behind all else, because the next panel would be drawn over the value beside it."""
    places = [(parent, mark) for parent in root.iter() for mark in parent if mark.get("class") == "mark"]
    for parent, mark in places:
        parent.remove(mark)
        root.append(mark)
    return [mark for _, mark in places]


def _show_value(mark: ElementTree.Element, width: float) -> None:
    """Put the value of a mark beside it, which the page shows while the keyboard or the pointer is there."""
    title, circle = mark.find("title"), mark.find("circle")
    if title is None or circle is None:
        return
    text = title.text or ""
    tip = text if len(text) <= LONGEST_TIP else f"{text[:LONGEST_TIP]}…"
    at_x, at_y = float(circle.get("cx", 0)), float(circle.get("cy", 0))
    left = max(2.0, min(at_x + 4, width - SIGN_PX * len(tip)))
    above = at_y - 9 if at_y > 24 else at_y + 17
    looks = {"class": "tip", "x": f"{left:.0f}", "y": f"{above:.0f}", "aria-hidden": "true"}
    ElementTree.SubElement(mark, "text", looks).text = tip
