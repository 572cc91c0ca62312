"""A comparison as files to read: compare.html (one file, no network), compare.md, and figures as SVG and PNG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from lab.base.durable import Folder
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.compared.answer import answer, answers
from lab.report.compared.comparison import Comparison
from lab.report.compared.confounding import confounding
from lab.report.compared.tables import facts_table, link_table, overall_table, runs_table, tables_of, where_from
from lab.report.figures import runs as figures
from lab.report.figures.files import png_of, svg_of
from lab.report.page.drawing import inline
from lab.report.page.frame import Parts, document
from lab.report.page.html_table import html_table
from lab.report.page.text import escape, folded, paragraph
from lab.report.prose import CONFOUNDED
from lab.report.render import Section, markdown_table, md
from lab.report.trust import doubts

NAME, POST = "compare.html", "compare.md"
QUESTIONS = {
    "answer": "The answer", "changes": "What changed?", "causes": "What may be the cause?",
    "trust": "How far can it be trusted?", "runs": "Which runs are these?",
}  # fmt: skip
READING = (
    "How many times as fast as A: over all cases, for each protocol, tool and direction (bold), and for each case "
    "below it. The axis is one of ratios: twice and half are equally far. Lines are 95 % intervals. A hollow mark is "
    "not established: the data do not say which way it changed."
)
SPEEDS = "Geometric means over blocks. The black tick is A, the mark at the other end of the line the run named by it."
ABOUT = {
    "times-as-fast": "A forest of intervals: how many times as fast as A each run is, over all cases and in each row.",
    "speeds": "Two marks a row: the speed of A, and that of the other run.",
}
BEHIND = "The tables behind the figure have every number."


def write(comparison: Comparison, to: Path) -> list[Path]:
    """Write all of it into the folder ``to``, over an older one; the paths, the page last.

    Whatever names the runs have is shown: those of :class:`lab.results.public.Public` have none.
    """
    try:
        to.mkdir(parents=True, exist_ok=True)
        opened = Folder.at(to)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"{to}: not a folder", "name a new one") from error
    title = f"{', '.join(run.letter for run in comparison.others)} over A: {_names(comparison)}"
    with opened as place:
        with place.enter("figures") as folder:
            drawings, paths = _draw(comparison, folder)
        sections = _sections(comparison)
        paths.append(place.replace(POST, _markdown(title, comparison, sections).encode()))
        return [*paths, place.replace(NAME, _page(title, comparison, sections, drawings).encode())]


def _names(comparison: Comparison) -> str:
    """What the runs are called, once where that is the same."""
    names = [one_line(str(run.run.get("name", run.folder.label)), 80) for run in comparison.runs]
    return " and ".join(dict.fromkeys(names))


def _draw(comparison: Comparison, folder: Folder) -> tuple[dict[str, bytes], list[Path]]:
    """Write every figure as SVG and PNG; the SVG of each, by name, and the paths."""
    drawings, paths = {}, []
    for name, draw in figures.ALL.items():
        figure = draw(comparison)
        paths.append(folder.replace(f"{name}.png", png_of(figure)))
        figure.set_layout_engine("none")  # all has its place by now
        drawings[name] = svg_of(figure, name)
        paths.append(folder.replace(f"{name}.svg", drawings[name]))
    return drawings, paths


def _sections(comparison: Comparison) -> list[Section]:
    """What the page and the post have below the answer, by question."""
    several = [overall_table(comparison)] if len(comparison.others) > 1 else []
    of_runs = [
        Section(f"{other.letter} over A", tables=tables_of(comparison, place, by_factor=True), question="changes")
        for place, other in enumerate(comparison.others)
    ]
    return [
        Section("Times as fast as A", READING, "times-as-fast", several, question="changes", leads=True),
        *of_runs,
        Section("The speeds", SPEEDS, "speeds", question="changes"),
        Section("What differs between the runs", tables=[facts_table(comparison)], question="causes", leads=True),
        Section("The link itself (iperf3)", tables=[link_table(comparison)], question="causes"),
        Section("The runs", tables=[runs_table(comparison)], question="runs", leads=True),
    ]  # fmt: skip


def _words(comparison: Comparison) -> dict[str, list[str]]:
    """The sentences of each question."""
    trust = [
        f"{run.letter}: {doubt}." for run in comparison.runs for doubt in doubts(Analysis(run.trials))
    ]  # fmt: skip
    return {"answer": answer(comparison), "causes": [*confounding(comparison), CONFOUNDED], "trust": trust}


def _page(title: str, comparison: Comparison, sections: list[Section], drawings: Mapping[str, bytes]) -> str:
    words, main = _words(comparison), []
    contents = {
        name: question
        for name, question in QUESTIONS.items()
        if words.get(name) or any(section.question == name for section in sections)
    }
    for name, question in contents.items():
        said = _answer(comparison) if name == "answer" else _listed(words.get(name, []))
        parts = [f'<section id="{name}"><h2>{question}</h2>', said]
        parts += [_section(section, drawings) for section in sections if section.question == name]
        main.append("\n".join([*filter(None, parts), "</section>"]))
    header = [paragraph(where_from(run), "where") for run in comparison.runs]
    footer = paragraph("Made by file-share-lab. This page is one file, and fetches nothing.", "note")
    return document(title, Parts(header, main, [footer]), contents)


def _answer(comparison: Comparison) -> str:
    """The sentences of each run, below its name."""
    parts = [
        f"<dt>{escape(name)}</dt>{''.join(f'<dd>{escape(sentence)}</dd>' for sentence in sentences)}"
        for name, sentences in answers(comparison).items()
    ]
    return f'<dl class="answer">{"".join(parts)}</dl>'


def _listed(sentences: Iterable[str]) -> str:
    items = [f"<li>{escape(sentence)}</li>" for sentence in sentences]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _section(section: Section, drawings: Mapping[str, bytes]) -> str:
    """A figure with its words and tables; folded, unless the section leads."""
    tables = [
        html_table(table, section.title if not number else f"{section.title} ({number + 1})")
        for number, table in enumerate(section.tables)
        if table.rows
    ]
    parts = [_figure(section, drawings), *tables]
    inner = "\n".join(filter(None, parts))
    if section.leads or not inner:
        return inner
    return folded(section.title, inner)


def _figure(section: Section, drawings: Mapping[str, bytes]) -> str:
    if not section.figure:
        return ""
    about = f"{ABOUT[section.figure]} {BEHIND}"
    drawing = inline(drawings[section.figure], section.figure, section.title, about)
    return f"<figure>{drawing}<figcaption>{escape(section.text)}</figcaption></figure>"


def _markdown(title: str, comparison: Comparison, sections: list[Section]) -> str:
    """The same as a post."""
    words = _words(comparison)
    parts = [f"# {md(title)}", *(md(where_from(run)) for run in comparison.runs)]
    for name, question in QUESTIONS.items():
        of_question = [section for section in sections if section.question == name]
        if not words.get(name) and not of_question:
            continue
        parts += [f"## {question}", "\n".join(f"- {md(sentence)}" for sentence in words.get(name, []))]
        for section in of_question:
            tables = [table for table in section.tables if table.rows]
            if not tables and not section.figure:
                continue
            parts.append(f"### {section.title}")
            parts += [f"![{section.title}](figures/{section.figure}.png)", section.text] if section.figure else []
            parts += [part for table in tables for part in (markdown_table(table), md(table.caption))]
    return "\n\n".join(filter(None, parts)) + "\n"
