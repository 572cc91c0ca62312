"""A comparison as files to read: compare.html (one file, no network), compare.md, and figures as SVG and PNG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.base.durable import Folder
from lab.base.errors import BadInput
from lab.report.figures import Figure
from lab.report.figures.files import png_of, svg_of
from lab.report.page.drawing import inline
from lab.report.page.frame import Parts, document
from lab.report.page.html_table import html_table
from lab.report.page.text import escape, folded, paragraph
from lab.report.render import Section, markdown_table, md

NAME, POST = "compare.html", "compare.md"
QUESTIONS = {
    "answer": "The answer", "changes": "What changed?", "causes": "What may be the cause?",
    "trust": "How far can it be trusted?", "runs": "Which runs are these?",
}  # fmt: skip
BEHIND = "The tables behind the figure have every number."


@dataclass(frozen=True)
class Content:
    """What the files of a comparison say: all of it that others wrote is here.

    ``where`` are lines below the title, ``answers`` sentences by what they are about, ``words`` the sentences of the
    other questions, ``sections`` what stands below these, and ``figures`` those of the sections, each with what a
    screen reader says of it.
    """

    title: str
    where: list[str]
    answers: Mapping[str, list[str]]
    words: Mapping[str, list[str]]
    sections: list[Section]
    figures: Mapping[str, tuple[Figure, str]]

    def of_question(self, name: str) -> list[Section]:
        """The sections of a question that have anything to show."""
        sections = [section for section in self.sections if section.question == name]
        return [one for one in sections if one.figure or any(table.rows for table in one.tables)]

    @property
    def questions(self) -> dict[str, str]:
        """The questions that it says anything of, by their names."""
        has_words = {"answer": any(self.answers.values()), **{name: bool(some) for name, some in self.words.items()}}
        return {name: text for name, text in QUESTIONS.items() if has_words.get(name) or self.of_question(name)}


def write_content(content: Content, to: Path) -> list[Path]:
    """Write all of it into the folder ``to``, over an older one; the paths, the page last. Raises BadInput."""
    try:
        to.mkdir(parents=True, exist_ok=True)
        opened = Folder.at(to)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"{to}: not a folder", "name a new one") from error
    with opened as place:
        with place.enter("figures") as folder:
            drawings, paths = _draw(content, folder)
        paths.append(place.replace(POST, _markdown(content).encode()))
        return [*paths, place.replace(NAME, _page(content, drawings).encode())]


def _draw(content: Content, folder: Folder) -> tuple[dict[str, bytes], list[Path]]:
    """Write every figure as SVG and PNG; the SVG of each, by name, and the paths."""
    drawings, paths = {}, []
    for name, (figure, _) in content.figures.items():
        paths.append(folder.replace(f"{name}.png", png_of(figure)))
        figure.set_layout_engine("none")  # all has its place by now
        drawings[name] = svg_of(figure, name)
        paths.append(folder.replace(f"{name}.svg", drawings[name]))
    return drawings, paths


def _page(content: Content, drawings: Mapping[str, bytes]) -> str:
    main = []
    for name, question in content.questions.items():
        words = _answers(content.answers) if name == "answer" else _listed(content.words.get(name, []))
        parts = [f'<section id="{name}"><h2>{question}</h2>', words]
        parts += [_section(section, content, drawings) for section in content.of_question(name)]
        main.append("\n".join([*filter(None, parts), "</section>"]))
    header = [paragraph(line, "where") for line in content.where]
    footer = paragraph("Made by file-share-lab. This page is one file, and fetches nothing.", "note")
    return document(content.title, Parts(header, main, [footer]), content.questions)


def _answers(answers: Mapping[str, list[str]]) -> str:
    """Sentences below what they are about."""
    parts = [
        f"<dt>{escape(name)}</dt>{''.join(f'<dd>{escape(sentence)}</dd>' for sentence in sentences)}"
        for name, sentences in answers.items()
    ]
    return f'<dl class="answer">{"".join(parts)}</dl>'


def _listed(sentences: Iterable[str]) -> str:
    items = [f"<li>{escape(sentence)}</li>" for sentence in sentences]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _section(section: Section, content: Content, drawings: Mapping[str, bytes]) -> str:
    """A figure with its words and tables; folded, unless the section leads."""
    tables = [
        html_table(table, section.title if not number else f"{section.title} ({number + 1})")
        for number, table in enumerate(section.tables)
        if table.rows
    ]
    inner = "\n".join(filter(None, [_figure(section, content, drawings), *tables]))
    return inner if section.leads else folded(section.title, inner)


def _figure(section: Section, content: Content, drawings: Mapping[str, bytes]) -> str:
    if not section.figure:
        return ""
    about = f"{_seen(content, section)} {BEHIND}"
    drawing = inline(drawings[section.figure], section.figure, section.title, about)
    return f"<figure>{drawing}<figcaption>{escape(section.text)}</figcaption></figure>"


def _seen(content: Content, section: Section) -> str:
    """What is to be seen in a figure, for whoever does not see it: what it draws, and the answer that it shows."""
    first = [sentence for sentences in content.answers.values() for sentence in sentences][:1]
    return " ".join([content.figures[section.figure][1], *first])


def _markdown(content: Content) -> str:
    """The same as a post."""
    parts = [f"# {md(content.title)}", *map(md, content.where)]
    every = [sentence for sentences in content.answers.values() for sentence in sentences]
    for name, question in content.questions.items():
        sentences = every if name == "answer" else content.words.get(name, [])
        parts += [f"## {question}", "\n".join(f"- {md(sentence)}" for sentence in sentences)]
        for section in content.of_question(name):
            parts.append(f"### {md(section.title)}")
            parts += (
                [f"![{md(_seen(content, section))}](figures/{section.figure}.png)", section.text]
                if section.figure
                else []
            )
            tables = [table for table in section.tables if table.rows]
            parts += [part for table in tables for part in (markdown_table(table), md(table.caption))]
    return "\n\n".join(filter(None, parts)) + "\n"
