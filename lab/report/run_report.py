"""A run as files to read: report.html (one file, no network), post.md, its appendix, figures, table.csv; or gist.md."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from lab.base.durable import Folder
from lab.report import figures, own_numbers
from lab.report.alt_texts import describe
from lab.report.analysis import Analysis
from lab.report.answer import sentences
from lab.report.answer_points import fastest_intervals
from lab.report.document import Chapter, Document, Picture, Section, draw_figures
from lab.report.method import method
from lab.report.page.html import escape, folded
from lab.report.page.trials import courses, trial_data
from lab.report.posts import APPENDIX, GIST, POST, Subject, appendix, gist, one_page
from lab.report.posts import front_matter as begin_with
from lab.report.prose import capitalised, head, warnings
from lab.report.sections import details, hosts, sections
from lab.report.tables import no_formula
from lab.report.trust import conditions
from lab.results import run_folder
from lab.results.public import Public
from lab.results.run_folder import RunFolder
from lab.stats.summary_table import round_trips_per_file

QUESTIONS = {
    "answer": "The answer", "fastest": "What is fastest?", "changes": "What does each setting change?",
    "limits": "What limits it?", "trust": "How far can it be trusted?", "how": "How was it measured?",
    "more": "Everything else",
}  # fmt: skip
BEHIND = "The table behind the figure has every number."


def write(folder: RunFolder, to: Path | None = None, shown: RunFolder | None = None, front_matter: str = "") -> Path:
    """Write the report of a run into its folder, or into the folder ``to``, over an older one; report.html's path.

    ``shown`` is the run as readers see it: a copy without names unless the run itself is given. ``front_matter`` is the
    kind of front matter of the post, empty for none.
    """
    original, folder = folder, shown or Public(folder)
    subject = _subject(folder, front_matter)
    run, frame = subject.run, subject.run.trials.frame
    with _open_report(original, to) as report:
        with report.enter("figures") as place:
            drawings = draw_figures({name: draw(run) for name, draw in figures.ALL.items()}, place)
        report.replace("table.csv", _plain(frame).join(own_numbers.columns(frame)).to_csv(index=False).encode())
        post_sections = sections(run, folder.label)
        behind = {section.figure: BEHIND if section.tables else "" for section in post_sections}
        pictures = {name: Picture(svg, describe(name, run), behind.get(name, "")) for name, svg in drawings.items()}
        report.replace(APPENDIX, appendix(subject, [*post_sections, hosts(folder.run)], pictures).encode())
        report.replace(POST, one_page(subject).encode())
        more = [courses(folder, run), trial_data(run)]
        document = page_of(subject, [*post_sections, *details(folder.run, run)], pictures, more)
        return report.replace("report.html", document.to_html().encode())


def write_gist(
    folder: RunFolder, to: Path | None = None, shown: RunFolder | None = None, front_matter: str = ""
) -> Path:
    """Write gist.md alone, as :func:`write` writes the report; its path."""
    subject = _subject(shown or Public(folder), front_matter)
    with _open_report(folder, to) as report:
        return report.replace(GIST, gist(subject).encode())


def page_of(
    subject: Subject, sections: Sequence[Section], pictures: Mapping[str, Picture], more: Sequence[str] = ()
) -> Document:
    """The whole report; ``more`` is HTML of what is folded at the end."""
    run = subject.run.described
    code = str(run.get("code_version") or "an unknown version")
    footer = f"Measured by file-share-lab {code}. This page is one file, and fetches nothing."
    chapters = list(_chapters(subject.run, sections, more))
    where = head(run, subject.run.trials)
    return Document(subject.title, where, chapters, warnings(run), pictures, footer, is_of_run=True)


def _chapters(run: Analysis, sections: Sequence[Section], more: Sequence[str]) -> Iterator[Chapter]:
    """The chapters that have anything. The answer, the speeds and the trust begin with sentences."""
    ends = {"how": [folded("The sweep", f"<pre>{escape(run.described.get('sweep_text', ''))}</pre>")], "more": more}
    lists = {"fastest": fastest_intervals(run), "trust": conditions(run)}
    for name, title in QUESTIONS.items():
        chosen = [section for section in sections if section.question == name]
        listed = [f"{capitalised(text)}." for text in lists[name]] if name in lists else None
        if name == "answer":
            rows = [row for section in chosen for row in section.tables[0].rows]
            yield Chapter(name, title, list(sentences(rows, run)))
        elif chosen or listed is not None or ends.get(name):
            text = method(run) if name == "how" else None
            yield Chapter(name, title, None, listed, text, chosen, ends.get(name, ()))


def _subject(folder: RunFolder, kind: str) -> Subject:
    title, run = f"How fast is this share? {folder.text('name')}", Analysis(run_folder.load(folder.path))
    return Subject(title, run, folder.label, begin_with(kind, title, run, folder.label) if kind else "")


def _open_report(folder: RunFolder, to: Path | None) -> Folder:
    if to is None:
        with Folder.at(folder.path) as run:
            return run.enter(folder.report_path.name)
    to.mkdir(parents=True, exist_ok=True)
    return Folder.at(to)


def _plain(trials: pd.DataFrame) -> pd.DataFrame:
    plain = trials.assign(**{name: trials[name].map(json.dumps) for name in ("options", "effective")})
    if (trials["files"] > 1).any():
        plain["round_trips_per_file"] = round_trips_per_file(trials)
    others = plain.select_dtypes(exclude=["number", "bool", "datetimetz"])
    texts = {
        str(name): plain[name].map(lambda value: no_formula(value) if isinstance(value, str) else value)
        for name in others
    }
    return plain.assign(**texts).rename(columns=no_formula)
