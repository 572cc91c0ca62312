"""A run as files to read: report.html (one file, no network), post.md, its appendix, figures, table.csv; or gist.md.

Its sections are sentences, figures, and every table of lab.report.registry.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from lab.base.durable import Folder
from lab.report import figures, own_numbers, registry
from lab.report.alt_texts import describe
from lab.report.analysis import Analysis
from lab.report.answer import answer_table, sentences
from lab.report.answer_points import fastest_intervals
from lab.report.bottlenecks import count_limits, stages_table
from lab.report.document import Chapter, Document, Picture, Section, draw_figures
from lab.report.method import method
from lab.report.page.html import escape, folded
from lab.report.page.trials import courses, trial_data
from lab.report.posts import APPENDIX, GIST, POST, Subject, appendix, gist, one_page
from lab.report.posts import front_matter as begin_with
from lab.report.prose import TEXTS, capitalised, drift_sentence, head, interaction_sentences, warnings
from lab.report.tables import TextTable, no_formula
from lab.report.trust import conditions
from lab.results import run_folder
from lab.results.json_object import RunJson
from lab.results.public import Public
from lab.results.run_folder import RunFolder
from lab.results.trial import emulated
from lab.stats.stages import fastest_cases
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


@dataclass(frozen=True)
class Part:
    """What a section has around its ``tables``, which are those of the registry unless ``words`` makes another one.

    Without any table the section is left out, or says ``if_none``; one with a figure alone needs no table. ``title`` is
    that of the first table unless it is given.
    """

    question: str
    tables: tuple[str, ...] = ()
    text: str = ""
    figure: str = ""
    leads: bool = False
    title: str = ""
    conclusion: Callable[[Analysis], str] = lambda run: ""
    words: Callable[[Analysis], TextTable] | None = None
    if_none: str = ""


OF_POST = (
    Part("fastest", ("speeds",), TEXTS["throughput"], "throughput", leads=True),
    Part("fastest", ("clients",)), Part("fastest", ("requests",)), Part("fastest", ("frames",)),
    Part("fastest", ("capacity",)), Part("fastest", ("files",), TEXTS["files"]),
    Part("limits", ("waterfall",), TEXTS["waterfall"], "waterfall", leads=True,
         words=lambda run: stages_table(fastest_cases(run.waterfall))),
    Part("limits", ("store", "store-effects"), TEXTS["store"]),
    Part("limits", ("limits",), TEXTS["limited"], leads=True, conclusion=lambda run: count_limits(run.verdicts)),
    Part("changes", ("effects",), TEXTS["effects"], "effects", leads=True),
    Part("changes", ("interactions",), TEXTS["interactions"], "interactions",
         conclusion=lambda run: interaction_sentences(run.interactions)),
    Part("changes", ("shares",), TEXTS["shares"], "shares"),
    Part("limits", (), TEXTS["cpu_cost"], "cpu_cost", title="What it costs in CPU"),
    Part("trust", (), TEXTS["timeline"], "timeline", leads=True, title="Did anything drift?",
         conclusion=lambda run: drift_sentence(run.drift)),
)  # fmt: skip
REMARKS = Part("trust", ("remarks",), TEXTS["remarks"], if_none="None.")
OF_TRUST = (Part("trust", ("lost",), if_none="None."), Part("trust", ("counted",)), REMARKS)
OF_ALL = (Part("more", ("settings",)), Part("more", ("ceilings",)))


def sections(run: Analysis, path: str) -> list[Section]:
    """The sections of a post; ``path`` is the run folder as a command names it."""
    answer = Section("The answer", tables=[answer_table(run, path)], question="answer", leads=True)
    placed = {name for part in (*OF_POST, *OF_TRUST, *OF_ALL) for name in part.tables}
    others = [Part("more", (name,)) for name in registry.OF_RUN if name not in placed]
    return [answer, *_fill((*OF_POST, *others), run)]


def details(described: RunJson, run: Analysis) -> list[Section]:
    """The sections of the page beyond the post: every setting, void and failed trials, the run and the hosts."""
    return [*_fill(OF_TRUST, run), _about_run(described), hosts(described), *_fill(OF_ALL, run)]


def _fill(parts: Iterable[Part], run: Analysis) -> Iterator[Section]:
    for part in parts:
        known = [registry.OF_RUN[name] for name in part.tables]
        made = [part.words(run)] if part.words else [words for table in known if (words := table.words(run))]
        title = part.title or known[0].title
        section = Section(title, part.text, part.figure, made, part.conclusion(run), part.question, part.leads)
        if part.if_none and not any(table.rows for table in made):
            yield replace(section, text=part.if_none, tables=[])
        elif made or not known:
            yield section


def _about_run(run: RunJson) -> Section:
    keys = ("name", "started_at", "finished_at", "seed", "code_version", "schema")
    facts = {key: str(run.get(key, "–")) for key in keys}
    if replaced := run.get("replaced"):
        facts["replaced"] = ", ".join(f"{count} {kind}" for kind, count in replaced.items())
    facts["finished_at"] = str(run.get("finished_at") or "not finished: the run was cut short, or is still going on")
    again = (
        f"The run {facts['name']} began at {facts['started_at']}; its end: {facts['finished_at']}. To measure it "
        "again: save the sweep, which this page has, as a file, and `lab run FILE` with a hosts file of your own."
    )
    table = TextTable(["", ""], list(facts.items()), is_text=True)
    return Section("The run", tables=[table], conclusion=again, question="how", leads=True)


def fact(value: object) -> str:
    """A fact of a host as a person reads it."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {fact(part)}" for name, part in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(fact, value)) or "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return "–" if value in (None, "") else str(value)


def hosts(run: RunJson) -> Section:
    """The facts of both hosts."""
    both = run.get("hosts", {})
    names = dict.fromkeys(name for facts in both.values() for name in facts)
    rows = [[name, *(fact(facts.get(name)) for facts in both.values())] for name in names]
    about = f"{emulated(run)}." if emulated(run) else ""
    return Section("The hosts", about, tables=[TextTable(["", *both], rows, is_text=True)], question="how")
