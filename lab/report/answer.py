"""The answer of a run in ten lines: what is fastest, what matters, what held it back, how far to trust it, what next.

It is made from the same tables as everything else in a report, so that the two cannot disagree.
"""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lab import stats
from lab.base.untrusted import one_line
from lab.report import findings, next_step, share_answer, trust
from lab.report.analysis import Analysis, Run, analyse
from lab.report.findings import Point, fastest_intervals
from lab.report.tables import TextTable
from lab.results.one_sided import share_of

WIDTH, MOST_LINES = 100, 10
LEAST_WIDTH = 60
MOST_LINES_OF_A_POINT = 3
LONGEST_PART = 240  # characters of one statement, whose names of hosts and protocols may be of any length
HEADING = 15  # characters before the text of a line: the longest heading and two spaces
SHORTENED = ("Next", "Held back by", "Fastest", "Trust", "What matters")  # the first loses a line first


def answer(run: Run, path: str = "RUN", width: int = WIDTH) -> list[str]:
    """At most MOST_LINES lines of WIDTH characters; on a screen that is narrower, as many more as that takes.

    ``path`` is the run folder, as a command names it; a ``width`` below LEAST_WIDTH counts as that.
    """
    width = min(max(width, LEAST_WIDTH), WIDTH)
    more = (WIDTH - HEADING) / (width - HEADING)  # lines for the same text
    made = [_Lines(point, width - HEADING, math.ceil(more * MOST_LINES_OF_A_POINT)) for point in points(run, path)]
    while sum(len(lines.drawn) for lines in made) > math.ceil(more * MOST_LINES):
        longest = min(made, key=_Lines.rank)
        if longest.is_least and width < WIDTH:
            break
        longest.shorten()
    return [line for lines in made for line in lines.drawn]


def answer_table(run: Run, path: str, most: int | None = None) -> TextTable:
    """The same with all its statements, or the first ``most`` of each point, as a table for a page."""
    rows = [[point.heading, f"{'; '.join(_first(point, most))}."] for point in points(run, path)]
    return TextTable(["", ""], rows, is_text=True)


def _first(point: Point, most: int | None) -> Sequence[str]:
    """The first statements of a point, and how many more there are."""
    rest = len(point.parts) - most if most is not None else 0
    return [*point.parts[:most], f"and {rest} more"] if rest > 0 else point.parts


def sentences(rows: Sequence[Sequence[str]], run: Analysis) -> Iterator[tuple[str, list[str]]]:
    """Each row of :func:`answer_table` as its heading and sentences: with what is fastest go the intervals."""
    intervals = fastest_intervals(run.summary, run.speeds)
    for heading, text in rows:
        of_heading = [words for words in intervals if heading == f"Fastest {words.partition(':')[0]}"]
        yield heading, [capitalised(text), *(capitalised(f"{words.partition(': ')[2]}.") for words in of_heading)]


def capitalised(text: str) -> str:
    """The text with a capital at its begin."""
    return text[:1].upper() + text[1:]


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
        # half a command helps nobody
        replace(
            point, parts=[one_line(part, None if point.heading == "Next" else LONGEST_PART) for part in point.parts]
        )
        for point in made
        if point.parts
    ]


class _Lines:
    """A point of the answer on lines of a width, as many of its statements as have room on so many of them.

    Its first statement is left whole where anything else can be shortened: half a command helps nobody.
    """

    def __init__(self, point: Point, width: int, most: int):
        self.point, self.width = point, width
        self._least = len(self._wrap(replace(point, parts=point.parts[:1]), most))
        self.texts = self._wrap(point, most)

    @property
    def drawn(self) -> list[str]:
        """The lines, the first one with the heading."""
        headings = [self.point.heading, *[""] * len(self.texts)]
        return [f"{heading:<{HEADING}}{line}" for heading, line in zip(headings, self.texts, strict=False)]

    @property
    def is_least(self) -> bool:
        """Whether one line less would cut the first statement."""
        return len(self.texts) <= self._least

    def rank(self) -> tuple[bool, int, int]:
        """Who loses a line first: of those with most lines the one that can best do without."""
        ranks = [rank for rank, heading in enumerate(SHORTENED) if self.point.heading.startswith(heading)]
        return self.is_least, -len(self.texts), min(ranks, default=len(SHORTENED))

    def shorten(self) -> None:
        """Do with one line less."""
        self.texts = self._wrap(self.point, len(self.texts) - 1)

    def _wrap(self, point: Point, most: int) -> list[str]:
        """As many of its statements as have room on so many lines, and, where that has room, how many are left out."""
        for count in range(len(point.parts), 0, -1):
            rest = len(point.parts) - count
            more = [f"and {rest} more"] if rest and point.heading != "Next" else []  # of steps, one is enough
            text = "; ".join([*point.parts[:count], *more])
            lines = textwrap.wrap(f"{text}.", self.width, break_on_hyphens=False)
            if len(lines) <= most:
                return lines
        first = f"{point.parts[0]}."
        return textwrap.wrap(first, self.width, break_on_hyphens=False, max_lines=most, placeholder=" …")
