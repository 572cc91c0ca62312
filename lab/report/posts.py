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
from lab.report.answer import answer_table, points, sentences
from lab.report.document import Chapter, Document, Picture, Section, image, join
from lab.report.leading import chart, fastest_first, how_to_read, leading
from lab.report.markdown import TEMPLATE, markdown_table, md, sentence
from lab.report.method import method
from lab.report.prose import capitalised, head, not_measured, warnings_of_machines
from lab.report.tables import no_formula, varied_and_alike
from lab.report.trust import speaks_against
from lab.results.one_sided import share_of
from lab.results.trial import read_time

POST, APPENDIX, GIST = "post.md", "post-appendix.md", "gist.md"
MOST_STATEMENTS, MOST_CAVEATS = 5, 10  # in one point of the answer, and in all
MOST_CASES = 400  # in gist.md: a site that shows gists cuts long ones
SPEEDS = ("median_MB_per_s", "low_MB_per_s", "high_MB_per_s", "share_of_ceiling")
TRUST = "Trust"  # the point of the answer that a post has among its caveats
LINKS = (
    f"- [The whole report](report.html): one page with every figure, table and trial\n"
    f"- [The appendix]({APPENDIX}): the other figures, and the tables in full\n"
    "- [The data](table.csv): every trial as a row"
)
KINDS = {"yaml": ("---", ": "), "toml": ("+++", " = ")}
LONGEST, LONGEST_TAG, MOST_TAGS = 200, 40, 12


@dataclass(frozen=True)
class Subject:
    """The subject of a post: its title, the run, the run folder as a command names it, and front matter, if any."""

    title: str
    run: Analysis
    path: str
    front_matter: str = ""


def opening(subject: Subject, suffix: str = "") -> list[str]:
    """The title, unless front matter has it, then where and what was measured, and warnings."""
    described = subject.run.described
    return [
        f"# {md(f'{subject.title}{suffix}')}" if suffix or not subject.front_matter else "",
        *map(md, head(described, subject.run.trials)),
        *(f"**{md(warning)}**" for warning in warnings_of_machines(described)),
    ]


def answer(subject: Subject) -> str:
    """The answer as a list of sentences, without how far it can be trusted."""
    rows = answer_table(subject.run, subject.path, MOST_STATEMENTS).rows
    statements = [(heading, " ".join(map(sentence, texts))) for heading, texts in sentences(rows, subject.run)]
    # a statement without a heading continues the point before it
    named = [f"**{md(heading)}.** {text}" if heading else text for heading, text in statements if heading != TRUST]
    return "\n".join(f"- {text}" for text in named)


def caveats(subject: Subject) -> Iterator[str]:
    """The cases that were left out and the doubts about the numbers, under a heading; each once."""
    described = subject.run.described
    against: Sequence[str] = speaks_against(subject.run)
    if share_of(described).protocol:
        made = points(subject.run, subject.path)
        against = next((point.parts for point in made if point.heading == TRUST), [])
    statements = list(dict.fromkeys([*(text.rstrip(".") for text in not_measured(described)), *against]))
    more = len(statements) - MOST_CAVEATS
    shown = [*statements[:MOST_CAVEATS], f"and {more} more"] if more > 0 else statements
    if shown:
        yield "## Caveats"
        yield "\n".join(f"- {sentence(f'{capitalised(text)}.')}" for text in shown)


def _post(subject: Subject, figure: Sequence[str], where: str, end: Sequence[str]) -> str:
    """The answer, the leading ``figure`` and its table, ``where`` its other rows are, how it was measured, caveats."""
    lead = leading(subject.run)
    rest = f"{lead.more} more row{'s' if lead.more != 1 else ''} {where}." if lead.more > 0 else ""
    table = markdown_table(lead.table) if lead.table.rows else ""
    return subject.front_matter + join(
        [
            *opening(subject), "## The answer", answer(subject), f"## {lead.title}", *figure, table,
            " ".join(filter(None, [sentence(lead.table.caption), rest])), "## How it was measured",
            sentence(method(subject.run)), *caveats(subject), *end,
        ]
    )  # fmt: skip


def one_page(subject: Subject) -> str:
    """The answer, one figure, one table, how it was measured, caveats and links."""
    figure = leading(subject.run).figure
    picture = image(figure, describe(figure, subject.run))
    return _post(subject, [picture], f"are in [the appendix]({APPENDIX})", ["## More", LINKS])


def appendix(subject: Subject, sections: Sequence[Section], pictures: Mapping[str, Picture]) -> str:
    """Every section with its figure and its tables in full."""
    chapters = [Chapter("", section.title, sections=[section]) for section in sections]
    document = Document(subject.title, [], chapters, pictures=pictures, is_of_run=True)
    left_out = [f"**{sentence(text)}**" for text in not_measured(subject.run.described)]
    begin = [*opening(subject, ": the appendix"), f"This is behind [the post]({POST}).", *left_out]
    return join([*begin, *document.markdown_blocks()])


def gist(subject: Subject) -> str:
    """The answer, the leading figure as text, its table, how it was measured, caveats, and the medians as CSV."""
    lead = leading(subject.run)
    drawn = chart(lead, subject.run)
    figure = [sentence(how_to_read(lead)), drawn] if drawn else []
    return _post(subject, figure, "are left out here", [medians(subject.run)])


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
    first = points(run, path)[0]
    cells = run.trials.cells(("protocol", "tool"), run.trials.transfer)
    levels = [one_line(str(level), LONGEST_TAG) for name in ("protocol", "tool") for level in cells.levels[name]]
    tags = list(dict.fromkeys(["file sharing", "benchmark", *levels]))[:MOST_TAGS]
    fields = {
        "title": quoted(one_line(title)), "date": _date(run),
        "description": quoted(one_line(f"{first.heading}: {first.parts[0]}.", LONGEST)),
        "tags": f"[{', '.join(map(quoted, tags))}]",
    }  # fmt: skip
    lines = [f"{name}{sets}{value}" for name, value in fields.items() if value]
    return "\n".join([fence, *lines, fence, "", ""])


def quoted(text: str) -> str:
    """Text in double quotes as YAML 1.1 and 1.2, TOML and, except for ``\\U``, JSON read it back.

    A character that is not printable becomes its number. Raises ValueError for half a character, which no file holds.
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
    with suppress(ValueError, TypeError):
        return f"{read_time(run.described.get('started_at', '')).replace(tzinfo=None):%Y-%m-%dT%H:%M:%S}Z"
    return ""
