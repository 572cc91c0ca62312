"""The answer of a run in ten lines: what is fastest, what matters, what held it back, how far to trust it, what next.

It is made from the same tables as everything else in a report, so that the two cannot disagree.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from lab import stats
from lab.base.untrusted import one_line
from lab.report import findings, next_step, share_answer, trust
from lab.report.analysis import Run, analyse
from lab.report.findings import Point
from lab.report.tables import TextTable
from lab.results.one_sided import share_of

WIDTH, MOST_LINES = 100, 10
MOST_LINES_OF_A_POINT = 3
LONGEST_PART = 140  # characters of one statement, whose names of hosts and protocols may be of any length
HEADING = 15  # characters before the text of a line: the longest heading and two spaces
SHORTENED = ("Next", "Held back by", "Fastest", "Trust", "What matters")  # the first loses a line first


def answer(run: Run, path: str = "RUN") -> list[str]:
    """At most MOST_LINES lines of at most WIDTH characters. ``path`` is the run folder, as a command names it."""
    made = points(run, path)
    lines = dict.fromkeys(range(len(made)), MOST_LINES_OF_A_POINT)
    drawn = {number: _wrap(point, lines[number]) for number, point in enumerate(made)}
    while sum(map(len, drawn.values())) > MOST_LINES:
        number = _longest(made, drawn)
        drawn[number] = _wrap(made[number], len(drawn[number]) - 1)
    return [line for number in drawn for line in drawn[number]]


def answer_table(run: Run, path: str) -> TextTable:
    """The same with all its statements, as a table for a page."""
    rows = [[point.heading, f"{'; '.join(point.parts)}."] for point in points(run, path)]
    return TextTable(["", ""], rows, is_text=True)


def points(run: Run, path: str = "RUN") -> list[Point]:
    """The answer as headings and statements, the most important first."""
    run = analyse(run)
    if share_of(run.trials.frame.attrs.get("run", {})).protocol:
        return _printable(share_answer.points(run, path))
    effects = run.effects[stats.comparisons(run.effects)[1]]
    made = [
        *findings.fastest(run.summary, run.speeds),
        *findings.what_matters(effects, len(run.speeds.blocks)),
        *findings.held_back(run.verdicts),
        trust.trust(run),
        next_step.next_step(run.trials, run.speeds, effects, path),
    ]
    return _printable(made)


def _printable(made: Sequence[Point]) -> list[Point]:
    return [
        replace(point, parts=[one_line(part, LONGEST_PART) for part in point.parts]) for point in made if point.parts
    ]


def _longest(made: Sequence[Point], drawn: dict[int, list[str]]) -> int:
    """The point that loses a line: of those with most lines the one that can best do without.

    The first statement of a point is left whole where anything else can be shortened: half a command helps nobody.
    """

    def place(number: int) -> tuple[bool, int, int]:
        ranks = [rank for rank, heading in enumerate(SHORTENED) if made[number].heading.startswith(heading)]
        first = _wrap(replace(made[number], parts=made[number].parts[:1]), MOST_LINES_OF_A_POINT)
        is_least = len(drawn[number]) <= len(first)
        return is_least, -len(drawn[number]), min(ranks, default=len(SHORTENED))

    return min(drawn, key=place)


def _wrap(point: Point, most_lines: int) -> list[str]:
    """The point on so many lines: as many of its statements as have room, and how many are left out."""
    for count in range(len(point.parts), 0, -1):
        rest = len(point.parts) - count
        more = [f"and {rest} more"] if rest and point.heading != "Next" else []  # of steps, one is enough
        text = "; ".join([*point.parts[:count], *more])
        lines = textwrap.wrap(f"{text}.", WIDTH - HEADING)
        if len(lines) <= most_lines:
            break
    lines = textwrap.wrap(f"{text}.", WIDTH - HEADING, max_lines=most_lines, placeholder=" …")
    return [f"{heading:<{HEADING}}{line}" for heading, line in zip([point.heading, *[""] * 9], lines, strict=False)]
