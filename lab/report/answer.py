"""The answer of a run in ten lines: what is fastest, what matters, what held it back, how sure that is, what next."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lab import stats
from lab.base.untrusted import one_line
from lab.report import share_answer, trust
from lab.report.analysis import Analysis, Run, analyse
from lab.report.answer_points import Point, fastest, fastest_intervals, held_back, next_step, what_matters
from lab.report.prose import capitalised
from lab.report.tables import TextTable
from lab.results.one_sided import share_of

WIDTH, MOST_LINES = 100, 10
LEAST_WIDTH = 60
MOST_LINES_OF_A_POINT = 3
LONGEST_PART = 240  # characters of a statement: names of hosts and protocols may have any length
HEADING = 15  # characters before the text of a line: the longest heading and two spaces
SHORTENED = ("Next", "Held back by", "Fastest", "Trust", "What matters")  # the first loses a line first


def answer(run: Run, path: str = "RUN", width: int = WIDTH) -> list[str]:
    """At most MOST_LINES lines of WIDTH characters, or more of a smaller ``width``; ``path`` is the run folder."""
    width = min(max(width, LEAST_WIDTH), WIDTH)
    more = (WIDTH - HEADING) / (width - HEADING)  # lines for the same text
    made = [_Lines(point, width - HEADING, math.ceil(more * MOST_LINES_OF_A_POINT)) for point in points(run, path)]
    while sum(len(lines.texts) for lines in made) > math.ceil(more * MOST_LINES):
        longest = min(made, key=_Lines.rank)
        if longest.is_least and width < WIDTH:
            break
        longest.shorten()
    return [
        f"{'' if number else lines.point.heading:<{HEADING}}{line}"
        for lines in made
        for number, line in enumerate(lines.texts)
    ]


def answer_table(run: Run, path: str, most: int | None = None) -> TextTable:
    """The answer with all its statements, or the first ``most`` of each point, as a table for a page."""
    rows = []
    for point in points(run, path):
        rest = len(point.parts) - most if most is not None else 0
        parts = [*point.parts[:most], f"and {rest} more"] if rest > 0 else point.parts
        rows.append([point.heading, f"{'; '.join(parts)}."])
    return TextTable(["", ""], rows, is_text=True)


def sentences(rows: Sequence[Sequence[str]], run: Analysis) -> Iterator[tuple[str, list[str]]]:
    """Each row of :func:`answer_table` as heading and sentences, with intervals for the fastest cases."""
    intervals = fastest_intervals(run)
    for heading, text in rows:
        matching = [words for words in intervals if heading == f"Fastest {words.partition(':')[0]}"]
        yield heading, [capitalised(text), *(capitalised(f"{words.partition(': ')[2]}.") for words in matching)]


def points(run: Run, path: str = "RUN") -> list[Point]:
    """The answer as headings and statements, the most important first."""
    run = analyse(run)
    if share_of(run.described).protocol:
        made = share_answer.points(run, path)
    else:
        effects = run.effects[stats.comparisons(run.effects)[1]]
        made = [*fastest(run), *what_matters(effects, len(run.speeds.blocks)), *held_back(run.verdicts)]
        made += [trust.trust(run), next_step(run, effects, path)]
    for place, point in enumerate(made):
        longest = None if point.heading == "Next" else LONGEST_PART  # half a command helps nobody
        made[place] = replace(point, parts=[one_line(part, longest) for part in point.parts])
    return [point for point in made if point.parts]


class _Lines:
    """A point of the answer on at most so many lines of a width, with as many of its statements as have room there.

    Its first statement stays whole if anything else can be shortened, because half a command helps nobody.
    """

    def __init__(self, point: Point, width: int, most: int):
        self.point, self.width = point, width
        self._least = len(self._wrap(replace(point, parts=point.parts[:1]), most))
        self.texts = self._wrap(point, most)

    @property
    def is_least(self) -> bool:
        """Whether one line less would cut the first statement."""
        return len(self.texts) <= self._least

    def rank(self) -> tuple[bool, int, int]:
        """The order in which points lose a line: the longest first, and of these the one that can best do without."""
        ranks = [rank for rank, heading in enumerate(SHORTENED) if self.point.heading.startswith(heading)]
        return self.is_least, -len(self.texts), min(ranks, default=len(SHORTENED))

    def shorten(self) -> None:
        """Use one line less."""
        self.texts = self._wrap(self.point, len(self.texts) - 1)

    def _wrap(self, point: Point, most: int) -> list[str]:
        """As many of its statements as have room on so many lines, and how many are left out if that has room too."""
        for count in range(len(point.parts), 0, -1):
            rest = len(point.parts) - count
            more = [f"and {rest} more"] if rest and point.heading != "Next" else []  # one next step is enough
            text = "; ".join([*point.parts[:count], *more])
            lines = textwrap.wrap(f"{text}.", self.width, break_on_hyphens=False)
            if len(lines) <= most:
                return lines
        return textwrap.wrap(f"{point.parts[0]}.", self.width, break_on_hyphens=False, max_lines=most, placeholder=" …")
