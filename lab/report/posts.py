"""Posts to be published: post.md, one page that people paste into a blog, its appendix, and gist.md, which is alone."""

import csv
import html
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lab import stats
from lab.base.untrusted import one_line
from lab.report.alt_texts import describe
from lab.report.analysis import Analysis
from lab.report.answer import answer_table, capitalised, points, sentences
from lab.report.document import Chapter, Document, Picture, Section, image, join
from lab.report.leading import chart, fastest_first, how_to_read, leading
from lab.report.markdown import TEMPLATE, markdown_table, md, sentence
from lab.report.method import method
from lab.report.prose import head, not_measured, warnings_of_machines
from lab.report.tables import TextTable, no_formula, varied_and_alike
from lab.report.trust import speaks_against
from lab.results.one_sided import share_of
from lab.results.trial import RunJson, read_time

POST, APPENDIX, GIST = "post.md", "post-appendix.md", "gist.md"
MOST_STATEMENTS, MOST_CAVEATS = 5, 10  # of one point of the answer, and of all
MOST_CASES = 400  # of the medians in gist.md: a site that shows gists cuts long ones
SPEEDS = ("median_MB_per_s", "low_MB_per_s", "high_MB_per_s", "share_of_ceiling")
TRUST = "Trust"  # the point of the answer that the caveats have in its place
LINKS = (
    f"- [The whole report](report.html): one page with every figure, table and trial\n"
    f"- [The appendix]({APPENDIX}): the other figures, and the tables in full\n"
    "- [The data](table.csv): every trial as a row"
)
KINDS = {"yaml": ("---", ": "), "toml": ("+++", " = ")}
LONGEST, LONGEST_TAG, MOST_TAGS = 200, 40, 12


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


def one_page(subject: Subject) -> str:
    """The answer, one figure, one table, how it was measured, caveats and links."""
    lead = leading(subject.run)
    return subject.front_matter + join(
        [
            *opening(subject),
            "## The answer",
            answer(subject),
            f"## {lead.title}",
            image(lead.figure, describe(lead.figure, subject.run)),
            *table(lead.table, lead.more, f"are in [the appendix]({APPENDIX})"),
            *how(subject),
            *caveats(subject),
            "## More",
            LINKS,
        ]
    )


def appendix(subject: Subject, sections: Sequence[Section], pictures: Mapping[str, Picture]) -> str:
    """Every section with its figure and its tables in full."""
    chapters = [Chapter("", section.title, sections=[section]) for section in sections]
    document = Document(subject.title, [], chapters, pictures=pictures, is_of_run=True)
    left_out = [f"**{sentence(text)}**" for text in not_measured(subject.described)]
    begin = [*opening(subject, ": the appendix"), f"This is behind [the post]({POST}).", *left_out]
    return join([*begin, *document.markdown_blocks()])


def gist(subject: Subject) -> str:
    """The answer, the leading figure as text, its table, how it was measured, caveats, and the medians as CSV."""
    lead = leading(subject.run)
    drawn = chart(lead, subject.run)
    return subject.front_matter + join(
        [
            *opening(subject),
            "## The answer",
            answer(subject),
            f"## {lead.title}",
            *([sentence(how_to_read(lead)), drawn] if drawn else []),
            *table(lead.table, lead.more, "are left out here"),
            *how(subject),
            *caveats(subject),
            medians(subject.run),
        ]
    )


def medians(run: Analysis) -> str:
    """The median of every case as CSV, folded; HTML without an empty line, which Markdown passes on as a whole."""
    cases = fastest_first(run)
    if cases.empty:
        return ""
    text = io.StringIO()
    varied, _ = varied_and_alike(cases[cases.columns[: cases.columns.get_loc("n")]])
    names = [*stats.POOLED, *(name for name in varied if name not in stats.POOLED)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([no_formula(name) for name in (*names, "n", *SPEEDS)])
    for row in stats.rows_of(cases.head(MOST_CASES)):
        numbers = ["" if row[name] != row[name] else f"{row[name]:.4g}" for name in SPEEDS]
        writer.writerow([*(no_formula(one_line(str(row[name]))) for name in names), row["n"], *numbers])
    shown = min(len(cases), MOST_CASES)
    of = f"the first {shown} of {len(cases)} cases" if shown < len(cases) else f"{shown} cases"
    shown_csv = TEMPLATE.sub("&#123;", html.escape(text.getvalue(), quote=False))
    return f"<details><summary>The medians of {of} as CSV</summary>\n<pre>\n{shown_csv}</pre>\n</details>"


def front_matter(kind: str, title: str, run: Analysis, path: str) -> str:
    """Title, date (of the run, UTC), description and tags; with an empty line after it. ``kind`` is one of KINDS."""
    fence, sets = KINDS[kind]
    fields = {"title": quoted(one_line(title)), "date": _date(run), "description": quoted(_description(run, path))}
    fields["tags"] = f"[{', '.join(map(quoted, _tags(run)))}]"
    lines = [f"{name}{sets}{value}" for name, value in fields.items() if value]
    return "\n".join([fence, *lines, fence, "", ""])


def quoted(text: str) -> str:
    """Text in double quotes as YAML 1.1 and 1.2, TOML and, but for ``\\U``, JSON read it back.

    Whatever is not printed plainly stands as its number. Raises ValueError for half a character, which no file holds.
    """
    return f'"{"".join(map(_quoted, text))}"'


def _quoted(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    if "\ud800" <= char <= "\udfff":
        raise ValueError(f"{char!r} is half a character")
    return f"\\u{ord(char):04x}" if ord(char) < 2**16 else f"\\U{ord(char):08x}"


def _date(run: Analysis) -> str:
    """When the run began, as YAML and TOML write a time; empty where it does not tell."""
    with suppress(ValueError, TypeError):
        return f"{read_time(run.trials.frame.attrs['run']['started_at']).replace(tzinfo=None):%Y-%m-%dT%H:%M:%S}Z"
    return ""


def _description(run: Analysis, path: str) -> str:
    """The first statement of the answer."""
    first, *_ = points(run, path)
    return one_line(f"{first.heading}: {first.parts[0]}.", LONGEST)


def _tags(run: Analysis) -> list[str]:
    """What it is about, and which protocols and tools it has."""
    trials = run.trials
    cells = trials.cells(("protocol", "tool"), trials.transfer)
    named = [one_line(str(level), LONGEST_TAG) for name in ("protocol", "tool") for level in cells.levels[name]]
    return list(dict.fromkeys(["file sharing", "benchmark", *named]))[:MOST_TAGS]
