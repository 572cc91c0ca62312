"""The parts that every post has: what it is of, the answer, how it was measured, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lab.report.analysis import Analysis
from lab.report.answer import answer_table, capitalised, points, sentences
from lab.report.method import method
from lab.report.prose import not_measured, warnings_of_machines
from lab.report.render import head, markdown_table, md, sentence
from lab.report.tables import TextTable
from lab.report.trust import speaks_against
from lab.results.one_sided import share_of
from lab.results.trial import RunJson

MOST_STATEMENTS, MOST_CAVEATS = 5, 10  # of one point of the answer, and of all
TRUST = "Trust"  # the point of the answer that the caveats have in its place


@dataclass(frozen=True)
class Subject:
    """What a post is of: its title, the run, and the run folder as a command names it.

    ``front_matter`` stands before everything else, and is empty for none.
    """

    title: str
    run: Analysis
    path: str
    front_matter: str = ""

    @property
    def described(self) -> RunJson:
        """The content of run.json."""
        run: RunJson = self.run.trials.frame.attrs.get("run", {})
        return run


def join(parts: Iterable[str]) -> str:
    """Blocks of Markdown, with an empty line between any two."""
    return "\n\n".join(filter(None, parts)) + "\n"


def opening(subject: Subject, suffix: str = "") -> list[str]:
    """The title, where and of what it is, and of which machines the numbers are none.

    A site writes the title of the front matter above the post: it stands there once.
    """
    return [
        f"# {md(f'{subject.title}{suffix}')}" if suffix or not subject.front_matter else "",
        *map(md, head(subject.described, subject.run.trials)),
        *(f"**{md(warning)}**" for warning in warnings_of_machines(subject.described)),
    ]


def answer(subject: Subject) -> str:
    """The answer as a list of sentences, without how far it can be trusted."""
    rows = answer_table(subject.run, subject.path, MOST_STATEMENTS).rows
    statements = [(heading, " ".join(map(sentence, texts))) for heading, texts in sentences(rows, subject.run)]
    # one without a heading goes on with the point before it
    named = [f"**{md(heading)}.** {text}" if heading else text for heading, text in statements if heading != TRUST]
    return "\n".join(f"- {text}" for text in named)


def how(subject: Subject) -> Iterator[str]:
    """How it was measured, under its heading."""
    yield "## How it was measured"
    yield sentence(method(subject.run))


def caveats(subject: Subject) -> Iterator[str]:
    """What was left out, what speaks against the numbers, and what they rest on, under a heading; each once."""
    against: Sequence[str] = speaks_against(subject.run)
    if share_of(subject.described).protocol:
        trust = [point for point in points(subject.run, subject.path) if point.heading == TRUST]
        against = [part for point in trust for part in point.parts]
    statements = list(dict.fromkeys([*(text.rstrip(".") for text in not_measured(subject.described)), *against]))
    more = len(statements) - MOST_CAVEATS
    shown = [*statements[:MOST_CAVEATS], f"and {more} more"] if more > 0 else statements
    if shown:
        yield "## Caveats"
        yield "\n".join(f"- {sentence(f'{capitalised(text)}.')}" for text in shown)


def table(shown: TextTable, more: int, where: str) -> Iterator[str]:
    """A table, what is to be known of its numbers, how many rows more there are, and ``where``, which is Markdown."""
    if shown.rows:
        yield markdown_table(shown)
    rest = f"{more} more row{'s' if more != 1 else ''} {where}." if more > 0 else ""
    yield " ".join(filter(None, [sentence(shown.caption), rest]))
