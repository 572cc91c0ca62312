"""A run as files to read: report.html (one file, no network), post.md, its appendix, figures, table.csv; or gist.md.

The same tables and texts are rendered for HTML, Markdown and the terminal (:mod:`lab.report.terminal`), so that they
cannot disagree. Whatever came from a host or a file is escaped.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from lab.base.durable import Folder
from lab.report import figures, own_numbers
from lab.report.analysis import Analysis
from lab.report.figures.files import png_of, svg_of
from lab.report.page.courses import courses
from lab.report.page.run_page import Report, page
from lab.report.page.trial_data import trial_data
from lab.report.post.front_matter import front_matter
from lab.report.post.gist import GIST, gist
from lab.report.post.one_page import APPENDIX, POST, appendix, one_page
from lab.report.post.parts import Subject
from lab.report.sections import details, hosts, sections
from lab.report.spreadsheet import no_formula
from lab.results import run_folder
from lab.results.public import Public
from lab.results.run_folder import RunFolder
from lab.stats.file_rates import round_trips_per_file


def write(folder: RunFolder, to: Path | None = None, shown: RunFolder | None = None, front_matter: str = "") -> Path:
    """Write the report of a run into its folder, or into the folder ``to``, over an older one; report.html's path.

    ``shown`` is the run as readers see it: a copy without names unless the run itself is given. ``front_matter`` is the
    kind of that of the post, empty for none.
    """
    own, folder = folder, shown or Public(folder)
    subject = _subject(folder, front_matter)
    run = subject.run
    with _open_report(own, to) as report:
        with report.enter("figures") as place:
            drawings = _draw(run, place)
        report.replace(
            "table.csv",
            _plain(run.trials.frame).join(own_numbers.columns(run.trials.frame)).to_csv(index=False).encode(),
        )
        of_post = sections(run, folder.label)
        report.replace(APPENDIX, appendix(subject, [*of_post, hosts(folder.run)]).encode())
        report.replace(POST, one_page(subject).encode())
        everything = [*of_post, *details(folder.run, run)]
        more = [courses(folder, run), trial_data(run)]
        content = page(Report(subject.title, folder.run, run, everything, drawings), more)
        return report.replace("report.html", content.encode())


def write_gist(
    folder: RunFolder, to: Path | None = None, shown: RunFolder | None = None, front_matter: str = ""
) -> Path:
    """Write gist.md alone, as :func:`write` writes the report; its path."""
    subject = _subject(shown or Public(folder), front_matter)
    with _open_report(folder, to) as report:
        return report.replace(GIST, gist(subject).encode())


def _subject(folder: RunFolder, kind: str) -> Subject:
    title, run = f"How fast is this share? {folder.text('name')}", Analysis(run_folder.load(folder.path))
    return Subject(title, run, folder.label, front_matter(kind, title, run, folder.label) if kind else "")


def _open_report(folder: RunFolder, to: Path | None) -> Folder:
    if to is None:
        with Folder.at(folder.path) as run:
            return run.enter(folder.report_path.name)
    to.mkdir(parents=True, exist_ok=True)
    return Folder.at(to)


def _plain(trials: pd.DataFrame) -> pd.DataFrame:
    """Every trial, for a spreadsheet: JSON for what has parts, and no text that could be taken for a formula."""
    columns = {name: trials[name].map(json.dumps) for name in ("options", "effective")}
    plain = trials.assign(**columns)
    if (trials["files"] > 1).any():
        plain["round_trips_per_file"] = round_trips_per_file(trials)
    others = plain.select_dtypes(exclude=["number", "bool", "datetimetz"])
    texts = {str(name): plain[name].map(_as_text) for name in others}
    return plain.assign(**texts).rename(columns=no_formula)


def _as_text(value: object) -> object:
    return no_formula(value) if isinstance(value, str) else value


def _draw(run: Analysis, place: Folder) -> dict[str, bytes]:
    """Write every figure as SVG and PNG; the SVG of each, by name. The same run gives the same bytes."""
    drawings = {}
    for name, draw in figures.ALL.items():
        figure = draw(run)
        place.replace(f"{name}.png", png_of(figure))
        figure.set_layout_engine("none")  # all has its place by now
        drawings[name] = svg_of(figure, name)
        place.replace(f"{name}.svg", drawings[name])
    return drawings
