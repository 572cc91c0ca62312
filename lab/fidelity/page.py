"""A survey as text: lines for the terminal, fidelity.html (one file, no network), and fidelity.md to publish."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TypeAlias

from lab.base.durable import Folder
from lab.base.groups import grouped
from lab.base.masking import Masker
from lab.base.untrusted import one_line
from lab.fidelity.copiers import POST_LINE, Engine
from lab.fidelity.copies import Copy, Ends, Verdict
from lab.fidelity.probes import PROBES, Probe, known_to
from lab.fidelity.survey import Survey
from lab.report.document import Chapter, Document, Section
from lab.report.tables import TextTable
from lab.results.public import kinds_replaced
from lab.results.run_folder import RunFolder

TITLE = "What survives a copy?"
HOW = (
    "Each probe is one attribute of one file. A tool copied it, and what arrived was compared with what was there: "
    "writes through the mount, on the server's store, and through a mount made anew; reads on the client."
)
ALIKE = "Copies that went alike in every probe share a column."
MARKS = {
    Verdict.KEPT: "+", Verdict.CHANGED: "~", Verdict.LOST: "-", Verdict.REFUSED: "!", Verdict.IMPOSSIBLE: ".",
    Verdict.UNSEEN: "?",
}  # fmt: skip
KEY = "  ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items())
MOST_UNSEEN = 5  # probes that could not be looked at, each in a line
CELL = 4
LABEL = max(len(probe.name) for probe in PROBES)
ENGINE_HEADINGS = ["host", "program", "version", "the post's line"]
Column: TypeAlias = tuple[Copy, ...]


def write(folder: RunFolder, survey: Survey, masker: Masker | None) -> Path:
    """Write both files into the folder's report; the path of fidelity.html. Without a ``masker``, names stay."""
    title, replaced = str(folder.run.get("title", "")), ""
    if masker:
        title, survey = masker.mask(title), masked(survey, masker.mask)
        replaced = kinds_replaced(masker)
    document = Document(TITLE, [title], list(_chapters(survey, replaced)))
    with Folder.at(folder.path) as run, run.enter(folder.report_path.name) as report:
        report.replace("fidelity.md", document.to_markdown().encode())
        return report.replace("fidelity.html", document.to_html().encode())


def _chapters(survey: Survey, replaced: str) -> Iterator[Chapter]:
    columns = columns_of(survey.copies)
    labels = [[str(number), column_label(column)] for number, column in enumerate(columns, 1)]
    rows = [
        [probe.name, probe.about, *(MARKS[column[0].judgement(probe).verdict] for column in columns)]
        for probe in rows_of(survey.copies)
    ]
    engines = [[engine.host, engine.path, engine.version, engine.answer] for engine in survey.engines]
    tables = [
        ("The answer", "", _lines(answer_lines(survey.copies))),
        ("The matrix", HOW, TextTable(["probe", "of", *(number for number, _ in labels)], rows, KEY, is_text=True)),
        ("What each column is", ALIKE, TextTable(["", "copies"], labels, is_text=True)),
        ("What was changed or refused, and how", "", _details(columns)),
        ("What each rsync can", f"The line is `{POST_LINE}`.", TextTable(ENGINE_HEADINGS, engines, is_text=True)),
    ]
    if missing := [*survey.left_out, *survey.failures]:
        tables.append(("What was not looked at", "", _lines(missing)))
    for number, (title, text, table) in enumerate(tables, 1):
        yield Chapter(f"part-{number}", title, text=text, sections=[Section(title, tables=[table], leads=True)])
    if replaced:
        text = f"Alike everywhere, for others to read it: {replaced}."
        yield Chapter(f"part-{len(tables) + 1}", "What was replaced", text=text)


def _lines(lines: Iterable[str]) -> TextTable:
    return TextTable([""], [[line] for line in lines], is_text=True)


def _details(columns: Sequence[Column]) -> TextTable:
    """Each detail once, with the numbers of its columns."""
    numbers: dict[tuple[str, Verdict, str], dict[str, None]] = {}
    probes = rows_of([copy for column in columns for copy in column])
    for probe, (number, column) in itertools.product(probes, enumerate(columns, 1)):
        for judgement in (copy.judgement(probe) for copy in column):
            if judgement.how:
                numbers.setdefault((probe.name, judgement.verdict, judgement.how), {})[str(number)] = None
    rows = [[name, verdict.value, how, ", ".join(numbered)] for (name, verdict, how), numbered in numbers.items()]
    return TextTable(["probe", "verdict", "how", "columns"], rows, is_text=True)


def texts_of(survey: Survey) -> Iterator[str]:
    """All texts of a survey that come from hosts and hosts files."""
    yield from (*survey.left_out, *survey.failures)
    for engine in survey.engines:
        yield from (engine.path, engine.version, *engine.options.values())
    for copy in survey.copies:
        yield from (copy.command, *astuple(copy.ends))
        yield from (judgement.how for judgements in copy.views.values() for judgement in judgements.values())


def masked(survey: Survey, mask: Callable[[str], str]) -> Survey:
    """The survey with ``mask`` applied to :func:`texts_of` it; verdicts and the lab's own words stay."""
    engines = []
    for engine in survey.engines:
        options = {option: mask(answer) for option, answer in engine.options.items()}
        engines.append(replace(engine, path=mask(engine.path), version=mask(engine.version), options=options))
    copies = []
    for copy in survey.copies:
        views = {
            view: {name: replace(judgement, how=mask(judgement.how)) for name, judgement in judgements.items()}
            for view, judgements in copy.views.items()
        }
        copies.append(replace(copy, ends=Ends(*map(mask, astuple(copy.ends))), command=mask(copy.command), views=views))
    return Survey(engines, [*map(mask, survey.left_out)], copies, [*map(mask, survey.failures)])


def columns_of(copies: Sequence[Copy]) -> list[Column]:
    """The copies by column: copies with equal verdicts share one."""
    columns = grouped((tuple(copy.judgement(probe).verdict for probe in rows_of(copies)), copy) for copy in copies)
    return list(map(tuple, columns.values()))


def rows_of(copies: Sequence[Copy]) -> tuple[Probe, ...]:
    """The probes of the copies' platforms."""
    return known_to(platform for copy in copies for platform in copy.platforms)


def matrix_lines(copies: Sequence[Copy], width: int) -> Iterator[str]:
    """The matrix, with a number above each column."""
    numbered = list(enumerate(columns_of(copies), 1))
    size = max(1, (width - LABEL) // CELL)
    for start in range(0, len(numbered), size):
        part = numbered[start : start + size]
        if start:
            yield ""
        yield " " * LABEL + "".join(f"{column:{CELL}}" for column, _ in part)
        group = ""
        for probe in rows_of(copies):
            if probe.group != group:
                group = probe.group
                yield f"{group}:"
            marks = (MARKS[column[0].judgement(probe).verdict] for _, column in part)
            yield f"{probe.name:{LABEL}}" + "".join(f"{mark:>{CELL}}" for mark in marks)


def legend_lines(copies: Sequence[Copy]) -> Iterator[str]:
    """What each column is, and how it went."""
    for number, column in enumerate(columns_of(copies), 1):
        yield f"{number:>{CELL}}  {column_label(column)}"


def column_label(column: Column) -> str:
    """The number of probes with each verdict, and the copies of the column."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in column[0].counts.items() if count)
    names = []
    for copy in column:
        debris = ", ".join(f"{count} {kind}*" for kind, count in copy.debris.items())
        names.append(f"{copy.label} ({copy.ends.label}){', left behind: ' if debris else ''}{debris}")
    return f"{counts}: {'; '.join(names)}"


def answer_lines(copies: Sequence[Copy]) -> Iterator[str]:
    """The tools that kept most, by protocol and direction, and the probes that no copy kept."""
    groups = grouped((f"{copy.place.protocol.upper()} {copy.direction}", copy) for copy in copies)
    for name, group in groups.items():
        kept = [(copy.counts[Verdict.KEPT], copy.tool) for copy in group]
        (least, _), (most, _) = min(kept), max(kept)
        tools = " and ".join(dict.fromkeys(tool for count, tool in kept if count == most))
        yield f"{name}: {tools} kept the most, {most} of {len(group[0].probes)} probes; the worst copy kept {least}"
    verdicts = {probe.name: {copy.judgement(probe).verdict for copy in copies} for probe in rows_of(copies)}
    untold = {Verdict.IMPOSSIBLE, Verdict.UNSEEN}
    if never := [name for name, seen in verdicts.items() if seen - untold and Verdict.KEPT not in seen]:
        yield f"kept by no copy: {', '.join(never)}"
    unseen = [
        one_line(f"{judgement.verdict}: {copy.label} {probe.name}: {judgement.how}")
        for copy, probe in itertools.product(copies, rows_of(copies))
        if (judgement := copy.judgement(probe)).verdict is Verdict.UNSEEN
    ]
    yield from unseen[:MOST_UNSEEN]
    if unseen[MOST_UNSEEN:]:
        yield f"{Verdict.UNSEEN}: {len(unseen) - MOST_UNSEEN} more, which the page has"


def engine_lines(engines: Sequence[Engine]) -> Iterator[str]:
    """What each rsync makes of the post's line."""
    yield f"`{POST_LINE}`:"
    for engine in engines:
        yield one_line(f"  {engine.host} {engine.path} ({engine.version}) {engine.answer}")
