"""gist.md: a post in one file, for where only text can be pasted; no picture and no link to a file beside it."""

from __future__ import annotations

import csv
import html
import io

from lab import stats
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.leading import fastest_first, leading
from lab.report.post.chart import chart, how_to_read
from lab.report.post.parts import Subject, answer, caveats, how, join, opening, table
from lab.report.render import TEMPLATE, sentence
from lab.report.spreadsheet import no_formula
from lab.report.tables import varied_and_alike

GIST = "gist.md"
MOST_CASES = 400  # of the medians: a site that shows gists cuts long ones
SPEEDS = ("median_MB_per_s", "low_MB_per_s", "high_MB_per_s", "share_of_ceiling")


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
