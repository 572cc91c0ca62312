"""A survey as files to read: fidelity.html (one file, no network) and fidelity.md, which can be published as it is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.base.durable import Folder
from lab.base.masking import Masker
from lab.fidelity.engines import POST_LINE, Engine
from lab.fidelity.matrix import KEY, MARKS, Column, answer_lines, column_label, columns_of, rows_of
from lab.fidelity.public import masked, texts_of
from lab.fidelity.survey import Survey
from lab.fidelity.verdicts import Verdict
from lab.report.page.frame import Parts, document
from lab.report.page.html_table import html_table
from lab.report.page.text import escape, paragraph
from lab.report.render import Section, markdown_table, md, sentence
from lab.report.tables import TextTable
from lab.results.public import kinds_replaced, masker_of
from lab.results.run_folder import RunFolder

TITLE = "What survives a copy?"
HOW = (
    "Each probe is one attribute of one file. A tool copied it, and what arrived was compared with what was there: "
    "writes through the mount, on the server's store, and through a mount made anew; reads on the client."
)
ALIKE = "Copies that went alike in every probe share a column."


def masker_for(folder: RunFolder, survey: Survey) -> Masker:
    """What replaces the names in a survey. Raises BadInput where there are too many."""
    return masker_of(folder, texts_of(survey))


def write(folder: RunFolder, survey: Survey, masker: Masker | None) -> Path:
    """Write both files into the folder's report; the path of fidelity.html. Names stay without a ``masker``."""
    title = str(folder.run.get("title", ""))
    replaced = ""
    if masker:
        title, survey = masker.mask(title), masked(survey, masker.mask)
        replaced = kinds_replaced(masker)
    sections = list(_sections(survey, replaced))
    with Folder.at(folder.path) as run, run.enter(folder.report_path.name) as report:
        report.replace("fidelity.md", _markdown(title, sections).encode())
        return report.replace("fidelity.html", _page(title, sections).encode())


def _sections(survey: Survey, replaced: str) -> Iterator[Section]:
    columns = columns_of(survey.copies)
    labels = [[str(number), column_label(column)] for number, column in enumerate(columns, 1)]
    probes = rows_of(survey.copies)
    marks = [[MARKS[column[0].judgement(probe).verdict] for column in columns] for probe in probes]
    rows = [[probe.name, probe.about, *of_probe] for probe, of_probe in zip(probes, marks, strict=True)]
    matrix = TextTable(["probe", "of", *(number for number, _ in labels)], rows, KEY, is_text=True)
    yield Section(
        "The answer", "", tables=[TextTable([""], [[line] for line in answer_lines(survey.copies)], is_text=True)]
    )
    yield Section("The matrix", HOW, tables=[matrix])
    yield Section("What each column is", ALIKE, tables=[TextTable(["", "copies"], labels, is_text=True)])
    yield Section("What was changed or refused, and how", "", tables=[_details(columns)])
    yield Section("What each rsync can", f"The line is `{POST_LINE}`.", tables=[_engines(survey.engines)])
    if missing := [*survey.left_out, *survey.failures]:
        yield Section(
            "What was not looked at", "", tables=[TextTable([""], [[line] for line in missing], is_text=True)]
        )
    if replaced:
        yield Section("What was replaced", f"Alike everywhere, for others to read it: {replaced}.")


def _details(columns: Sequence[Column]) -> TextTable:
    """The same of several columns stands once, with their numbers."""
    numbers: dict[tuple[str, Verdict, str], dict[str, None]] = {}
    probes = rows_of([copy for column in columns for copy in column])
    for probe, (number, column) in itertools.product(probes, enumerate(columns, 1)):
        for judgement in (copy.judgement(probe) for copy in column):
            if judgement.how:
                numbers.setdefault((probe.name, judgement.verdict, judgement.how), {})[str(number)] = None
    rows = [[name, verdict.value, how, ", ".join(of_columns)] for (name, verdict, how), of_columns in numbers.items()]
    return TextTable(["probe", "verdict", "how", "columns"], rows, is_text=True)


def _engines(engines: Sequence[Engine]) -> TextTable:
    rows = [[engine.host, engine.path, engine.version, engine.answer] for engine in engines]
    return TextTable(["host", "program", "version", "the post's line"], rows, is_text=True)


def _markdown(title: str, sections: Sequence[Section]) -> str:
    parts = [f"# {TITLE}", md(title)]
    for section in sections:
        parts += [f"## {section.title}", sentence(section.text)]
        parts += [part for table in section.tables for part in (markdown_table(table), md(table.caption))]
    return "\n\n".join(filter(None, parts)) + "\n"


def _page(title: str, sections: Sequence[Section]) -> str:
    main, contents = [], {}
    for number, section in enumerate(sections, 1):
        anchor = f"part-{number}"
        contents[anchor] = section.title
        tables = [html_table(table, section.title) for table in section.tables]
        heading = f'<section id="{anchor}"><h2>{escape(section.title)}</h2>'
        main.append("\n".join([heading, paragraph(section.text), *tables, "</section>"]))
    return document(TITLE, Parts([paragraph(title, "where")], main), contents)
