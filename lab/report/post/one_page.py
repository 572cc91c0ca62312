"""post.md, one page that people paste into a blog, and its appendix, which has everything else."""

from __future__ import annotations

from collections.abc import Sequence

from lab.report.alt_texts import describe
from lab.report.analysis import Analysis
from lab.report.leading import leading
from lab.report.post.parts import Subject, answer, caveats, how, join, opening, table
from lab.report.prose import not_measured
from lab.report.render import Section, markdown_table, md, sentence

POST, APPENDIX = "post.md", "post-appendix.md"
LINKS = (
    f"- [The whole report](report.html): one page with every figure, table and trial\n"
    f"- [The appendix]({APPENDIX}): the other figures, and the tables in full\n"
    "- [The data](table.csv): every trial as a row"
)


def one_page(subject: Subject) -> str:
    """The answer, one figure, one table, how it was measured, caveats and links."""
    lead = leading(subject.run)
    return subject.front_matter + join(
        [
            *opening(subject),
            "## The answer",
            answer(subject),
            f"## {lead.title}",
            image(lead.figure, subject.run),
            *table(lead.table, lead.more, f"are in [the appendix]({APPENDIX})"),
            *how(subject),
            *caveats(subject),
            "## More",
            LINKS,
        ]
    )


def appendix(subject: Subject, sections: Sequence[Section]) -> str:
    """Every section with its figure and its tables in full."""
    parts = [*opening(subject, ": the appendix"), f"This is behind [the post]({POST})."]
    parts += [f"**{sentence(warning)}**" for warning in not_measured(subject.described)]
    for section in sections:
        parts += [f"## {section.title}", sentence(f"{section.finding} {section.text}")]
        parts += [image(section.figure, subject.run)] if section.figure else []
        for of_section in section.tables:
            parts += [markdown_table(of_section) if of_section.rows else "", sentence(of_section.caption)]
    return join(parts)


def image(figure: str, run: Analysis) -> str:
    """A figure beside the file, with what is to be seen in it.

    Markdown has no way to say how wide it is drawn; the files are PNGs of twice as many pixels as that.
    """
    return f"![{md(describe(figure, run))}](figures/{figure}.png)"
