"""A survey as a matrix of characters: a row a probe, a column the copies that went alike; in parts that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from lab.base.untrusted import one_line
from lab.fidelity.copies import Copy
from lab.fidelity.engines import POST_LINE, Engine
from lab.fidelity.probes import PROBES, Probe, known_to
from lab.fidelity.verdicts import Verdict

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
