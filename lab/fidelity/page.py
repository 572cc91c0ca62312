"""A survey as files to read: fidelity.html (one file, no network) and fidelity.md, which can be published as it is."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TypeAlias

from lab.base.durable import Folder
from lab.base.masking import Masker
from lab.base.untrusted import one_line
from lab.fidelity.copiers import POST_LINE, Engine
from lab.fidelity.copies import Copy, Ends, Verdict
from lab.fidelity.probes import PROBES, Probe, known_to
from lab.fidelity.survey import Survey
from lab.report.document import Chapter, Document, Section
from lab.report.tables import TextTable
from lab.results.public import kinds_replaced, masker_of
from lab.results.run_folder import RunFolder

TITLE = "What survives a copy?"
HOW = (
    "Each probe is one attribute of one file. A tool copied it, and what arrived was compared with what was there: "
    "writes through the mount, on the server's store, and through a mount made anew; reads on the client."
)
ALIKE = "Copies that went alike in every probe share a column."
MARKS = {
    Verdict.KEPT: "+",
    Verdict.CHANGED: "~",
    Verdict.LOST: "-",
    Verdict.REFUSED: "!",
    Verdict.IMPOSSIBLE: ".",
}
KEY = "  ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items())
CELL = 4
LABEL = max(len(probe.name) for probe in PROBES)


Column: TypeAlias = tuple[Copy, ...]


def masker_for(folder: RunFolder, survey: Survey) -> Masker:
    """What replaces the names in a survey. Raises BadInput where there are too many."""
    return masker_of(folder, texts_of(survey))


def write(folder: RunFolder, survey: Survey, masker: Masker | None) -> Path:
    """Write both files into the folder's report; the path of fidelity.html. Names stay without a ``masker``."""
    title, replaced = str(folder.run.get("title", "")), ""
    if masker:
        title, survey = masker.mask(title), masked(survey, masker.mask)
        replaced = kinds_replaced(masker)
    document = Document(TITLE, [title], list(_chapters(survey, replaced)))
    with Folder.at(folder.path) as run, run.enter(folder.report_path.name) as report:
        report.replace("fidelity.md", document.to_markdown().encode())
        return report.replace("fidelity.html", document.to_html().encode())


def _chapters(survey: Survey, replaced: str) -> Iterator[Chapter]:
    """A chapter for each table."""
    columns = columns_of(survey.copies)
    labels = [[str(number), column_label(column)] for number, column in enumerate(columns, 1)]
    probes = rows_of(survey.copies)
    marks = [[MARKS[column[0].judgement(probe).verdict] for column in columns] for probe in probes]
    rows = [[probe.name, probe.about, *of_probe] for probe, of_probe in zip(probes, marks, strict=True)]
    engines = [[engine.host, engine.path, engine.version, engine.answer] for engine in survey.engines]
    tables = [
        ("The answer", "", _lines(answer_lines(survey.copies))),
        ("The matrix", HOW, TextTable(["probe", "of", *(number for number, _ in labels)], rows, KEY, is_text=True)),
        ("What each column is", ALIKE, TextTable(["", "copies"], labels, is_text=True)),
        ("What was changed or refused, and how", "", _details(columns)),
        (
            "What each rsync can", f"The line is `{POST_LINE}`.",
            TextTable(["host", "program", "version", "the post's line"], engines, is_text=True),
        ),
    ]  # fmt: skip
    if missing := [*survey.left_out, *survey.failures]:
        tables.append(("What was not looked at", "", _lines(missing)))
    number = 0
    for number, (title, text, table) in enumerate(tables, 1):
        yield Chapter(f"part-{number}", title, text=text, sections=[Section(title, tables=[table], leads=True)])
    if replaced:
        text = f"Alike everywhere, for others to read it: {replaced}."
        yield Chapter(f"part-{number + 1}", "What was replaced", text=text)


def _lines(lines: Iterable[str]) -> TextTable:
    return TextTable([""], [[line] for line in lines], is_text=True)


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


def texts_of(survey: Survey) -> Iterator[str]:
    """All that hosts and hosts files have put into it."""
    yield from (*survey.left_out, *survey.failures)
    for engine in survey.engines:
        yield from (engine.path, engine.version, *engine.options.values())
    for copy in survey.copies:
        yield from (copy.command, *astuple(copy.ends))
        yield from (judgement.how for judgements in copy.views.values() for judgement in judgements.values())


def masked(survey: Survey, mask: Callable[[str], str]) -> Survey:
    """The survey with each of these texts through ``mask``; verdicts and the lab's own words stay."""
    return replace(
        survey,
        engines=[_engine(engine, mask) for engine in survey.engines],
        left_out=[*map(mask, survey.left_out)],
        failures=[*map(mask, survey.failures)],
        copies=[_copy(copy, mask) for copy in survey.copies],
    )


def _engine(engine: Engine, mask: Callable[[str], str]) -> Engine:
    options = {option: mask(answer) for option, answer in engine.options.items()}
    return replace(engine, path=mask(engine.path), version=mask(engine.version), options=options)


def _copy(copy: Copy, mask: Callable[[str], str]) -> Copy:
    views = {
        view: {name: replace(judgement, how=mask(judgement.how)) for name, judgement in judgements.items()}
        for view, judgements in copy.views.items()
    }
    return replace(copy, ends=Ends(*map(mask, astuple(copy.ends))), command=mask(copy.command), views=views)


def columns_of(copies: Sequence[Copy]) -> list[Column]:
    """Copies of which every probe has the same verdict share a column; in the order of the first of each."""
    columns: dict[tuple[Verdict, ...], list[Copy]] = {}
    for copy in copies:
        columns.setdefault(tuple(copy.judgement(probe).verdict for probe in rows_of(copies)), []).append(copy)
    return list(map(tuple, columns.values()))


def rows_of(copies: Sequence[Copy]) -> tuple[Probe, ...]:
    """The probes of the platforms that copies went between."""
    return known_to(platform for copy in copies for platform in copy.platforms)


def matrix_lines(copies: Sequence[Copy], width: int) -> Iterator[str]:
    """The matrix, with a number above each column."""
    numbered = list(enumerate(columns_of(copies), 1))
    for number, part in enumerate(_parts(numbered, max(1, (width - LABEL) // CELL))):
        if number:
            yield ""
        yield " " * LABEL + "".join(f"{column:{CELL}}" for column, _ in part)
        group = ""
        for probe in rows_of(copies):
            if probe.group != group:
                group = probe.group
                yield f"{group}:"
            marks = (MARKS[column[0].judgement(probe).verdict] for _, column in part)
            yield f"{probe.name:{LABEL}}" + "".join(f"{mark:>{CELL}}" for mark in marks)


def _parts(numbered: Sequence[tuple[int, Column]], size: int) -> Iterator[Sequence[tuple[int, Column]]]:
    for start in range(0, len(numbered), size):
        yield numbered[start : start + size]


def legend_lines(copies: Sequence[Copy]) -> Iterator[str]:
    """What each column is, and how it went."""
    for number, column in enumerate(columns_of(copies), 1):
        yield f"{number:>{CELL}}  {column_label(column)}"


def column_label(column: Column) -> str:
    """How many probes have which verdict, and the copies of which that is true."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in column[0].counts.items() if count)
    names = "; ".join(f"{copy.label} ({copy.ends.label}){_debris(copy)}" for copy in column)
    return f"{counts}: {names}"


def answer_lines(copies: Sequence[Copy]) -> Iterator[str]:
    """Which tool kept the most, by protocol and direction, and which probes no copy kept that could."""
    ways: dict[str, list[Copy]] = {}
    for copy in copies:
        ways.setdefault(f"{copy.place.protocol.upper()} {copy.direction}", []).append(copy)
    for way, of_way in ways.items():
        kept = [(copy.counts[Verdict.KEPT], copy.tool) for copy in of_way]
        (least, _), (most, _) = min(kept), max(kept)
        tools = dict.fromkeys(tool for count, tool in kept if count == most)
        of_all = f"{most} of {len(of_way[0].probes)} probes"
        yield f"{way}: {' and '.join(tools)} kept the most, {of_all}; the worst copy kept {least}"
    verdicts = {probe.name: {copy.judgement(probe).verdict for copy in copies} for probe in rows_of(copies)}
    could = {name: of_probe for name, of_probe in verdicts.items() if of_probe != {Verdict.IMPOSSIBLE}}
    if never := [name for name, of_probe in could.items() if Verdict.KEPT not in of_probe]:
        yield f"kept by no copy: {', '.join(never)}"


def _debris(copy: Copy) -> str:
    left = ", ".join(f"{count} {kind}*" for kind, count in copy.debris.items())
    return f", left behind: {left}" if left else ""


def engine_lines(engines: Sequence[Engine]) -> Iterator[str]:
    """What each rsync makes of the post's line."""
    yield f"`{POST_LINE}`:"
    for engine in engines:
        yield one_line(f"  {engine.host} {engine.path} ({engine.version}) {engine.answer}")
