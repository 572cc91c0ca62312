"""The page of a run: the answer first, then a section a question, and whatever else there is folded below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.report.alt_texts import describe
from lab.report.analysis import Analysis
from lab.report.answer import capitalised, sentences
from lab.report.findings import fastest_intervals
from lab.report.method import method
from lab.report.page.drawing import inline
from lab.report.page.frame import Parts, document
from lab.report.page.html_table import html_table
from lab.report.page.text import escape, folded, paragraph, sentence
from lab.report.prose import warnings
from lab.report.render import Section, head
from lab.report.trust import conditions
from lab.results.trial import RunJson

QUESTIONS = {
    "answer": "The answer",
    "fastest": "What is fastest?",
    "changes": "What does each setting change?",
    "limits": "What limits it?",
    "trust": "How far can it be trusted?",
    "how": "How was it measured?",
    "more": "Everything else",
}
BEHIND = "The table behind the figure has every number."


@dataclass(frozen=True)
class Report:
    """What the page of a run is made of: all of it that others wrote is here, and nowhere else.

    ``run`` is run.json; ``drawings`` are the SVGs of the figures by name.
    """

    title: str
    run: RunJson
    analysis: Analysis
    sections: Sequence[Section]
    drawings: Mapping[str, bytes]


def page(report: Report, extra: Sequence[str] = ()) -> str:
    """The whole report as one file that needs no network; ``extra`` is HTML of what is folded at the end."""
    run = report.run
    header = [paragraph(line, "where") for line in head(run, report.analysis.trials)]
    header += [f"<p><strong>{sentence(warning)}</strong></p>" for warning in warnings(run)]
    sweep = folded("The sweep", f"<pre>{escape(run.get('sweep_text', ''))}</pre>")
    ends = {"how": [sweep], "more": [*extra]}
    shown = {name: [*_question(report, name), *ends.get(name, [])] for name in QUESTIONS}
    shown = {name: parts for name, parts in shown.items() if parts}
    main = [
        "\n".join([f'<section id="{name}"><h2>{QUESTIONS[name]}</h2>', *parts, "</section>"])
        for name, parts in shown.items()
    ]
    return document(report.title, Parts(header, main, [_footer(run)]), {name: QUESTIONS[name] for name in shown})


def _footer(run: RunJson) -> str:
    code = str(run.get("code_version") or "an unknown version")
    return paragraph(f"Measured by file-share-lab {code}. This page is one file, and fetches nothing.", "note")


def _question(report: Report, name: str) -> Iterator[str]:
    """The answer to one question: what was found, the figures, and what is folded below them."""
    of_question = [section for section in report.sections if section.question == name]
    if name == "answer":
        yield from (_answer(section, report.analysis) for section in of_question)
        return
    if name == "trust":
        yield _listed(conditions(report.analysis))
    if name == "fastest":
        yield _listed(fastest_intervals(report.analysis.summary, report.analysis.speeds))
    if name == "how":
        yield paragraph(method(report.analysis))
    for section in of_question:
        yield from _leading(section, report) if section.leads else [_folded(section, report)]


def _answer(section: Section, run: Analysis) -> str:
    """The points of the answer as sentences, each with its heading."""
    parts = []
    for name, texts in sentences(section.tables[0].rows, run):
        parts += [f"<dt>{escape(name)}</dt>", *(f"<dd>{sentence(words)}</dd>" for words in texts)]
    return f'<dl class="answer">{"".join(parts)}</dl>'


def _listed(texts: Iterable[str]) -> str:
    items = [f"<li>{sentence(capitalised(text))}.</li>" for text in texts]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _leading(section: Section, report: Report) -> Iterator[str]:
    """A section that is open: its tables are folded, for it says what they say in words or in a figure."""
    yield paragraph(section.finding)
    yield _figure(section, report)
    if not section.figure:
        yield paragraph(section.text, "note")
    title = f"{section.title}: the table" if section.figure else section.title
    tables = "\n".join(_tables(section))
    if tables:
        yield folded(title, tables)


def _folded(section: Section, report: Report) -> str:
    words = [paragraph(section.finding), "" if section.figure else paragraph(section.text)]
    return folded(section.title, "\n".join([*words, _figure(section, report), *_tables(section)]))


def _tables(section: Section) -> Iterator[str]:
    for number, table in enumerate(section.tables):
        yield html_table(table, section.title if not number else f"{section.title} ({number + 1})")


def _figure(section: Section, report: Report) -> str:
    """The figure of a section, and below it how to read it."""
    if not section.figure:
        return ""
    name = section.figure
    about = " ".join(filter(None, [describe(name, report.analysis), BEHIND if section.tables else ""]))
    drawing = inline(report.drawings[name], name, section.title, about)
    return f"<figure>{drawing}<figcaption>{sentence(section.text)}</figcaption></figure>"
