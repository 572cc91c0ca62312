"""A survey as a matrix of characters: a row a probe, a column a copy, in parts that fit the width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.base.untrusted import one_line
from lab.fidelity.copies import Copy
from lab.fidelity.engines import POST_LINE, Engine
from lab.fidelity.probes import PROBES
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


def matrix_lines(copies: Sequence[Copy], width: int) -> Iterator[str]:
    """The matrix, with a number above each column."""
    numbered = list(enumerate(copies, 1))
    for number, part in enumerate(_parts(numbered, max(1, (width - LABEL) // CELL))):
        if number:
            yield ""
        yield " " * LABEL + "".join(f"{column:{CELL}}" for column, _ in part)
        group = ""
        for probe in PROBES:
            if probe.group != group:
                group = probe.group
                yield f"{group}:"
            marks = (MARKS[copy.judgement(probe).verdict] for _, copy in part)
            yield f"{probe.name:{LABEL}}" + "".join(f"{mark:>{CELL}}" for mark in marks)


def _parts(numbered: Sequence[tuple[int, Copy]], size: int) -> Iterator[Sequence[tuple[int, Copy]]]:
    for start in range(0, len(numbered), size):
        yield numbered[start : start + size]


def legend_lines(copies: Sequence[Copy]) -> Iterator[str]:
    """What each column is, and how it went."""
    for number, copy in enumerate(copies, 1):
        counts = ", ".join(f"{count} {verdict}" for verdict, count in copy.counts.items() if count)
        yield f"{number:>{CELL}}  {copy.label} ({copy.ends.label}): {counts}{_debris(copy)}"


def _debris(copy: Copy) -> str:
    left = ", ".join(f"{count} {kind}*" for kind, count in copy.debris.items())
    return f"; left behind: {left}" if left else ""


def engine_lines(engines: Sequence[Engine]) -> Iterator[str]:
    """What each rsync makes of the post's line."""
    yield f"`{POST_LINE}`:"
    for engine in engines:
        yield one_line(f"  {engine.host} {engine.path} ({engine.version}) {engine.answer}")
