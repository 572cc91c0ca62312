"""The files of a comparison, of two runs or of several pairs of hosts: its sections, words and figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.base.durable import Folder
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.compared import pairs_of_hosts, pairs_tables
from lab.report.compared.answer import answers
from lab.report.compared.comparison import ComparedRun, Comparison
from lab.report.compared.confounding import confounding
from lab.report.compared.pairs_of_hosts import PairsOfHosts
from lab.report.compared.tables import facts_table, link_table, overall_table, runs_table, tables_of, where_from
from lab.report.document import Chapter, Document, Picture, Section, draw_figures
from lab.report.figures import Figure
from lab.report.figures import compared_runs as figures
from lab.report.figures.pairs_of_hosts import effects_over_pairs
from lab.report.prose import CONFOUNDED
from lab.report.trust import conditions

READING = (
    "How many times as fast as A: over all cases, for each protocol, tool and direction (bold), and for each case "
    "below it. The axis is one of ratios: twice and half are equally far. Lines are 95 % intervals. A hollow mark is "
    "not established: the data do not say which way it changed."
)
SPEEDS = "Geometric means over blocks. The black tick is A, the mark at the other end of the line the run named by it."
ABOUT = {
    "times-as-fast": "A forest of intervals: how many times as fast as A each run is, over all cases and in each row.",
    "speeds": "Two marks a row: the speed of A, and that of the other run.",
}
PAIRS_READING = (
    "What each setting changes over all cases. Small marks are pairs, each with the 95 % interval of its own blocks; "
    "the large one is the mean over pairs with its interval over pairs (thick), and the thin line is where a further "
    "pair would lie. A hollow mark is not established over pairs. The axis is one of ratios: twice and half are "
    "equally far."
)
PAIRS_ABOUT = "A forest of effects: a mark for each pair of hosts, and one over the pairs with its interval."
NAME, POST = "compare.html", "compare.md"
QUESTIONS = {
    "answer": "The answer", "changes": "What changed?", "causes": "What may be the cause?",
    "trust": "How far can it be trusted?", "runs": "Which runs are these?",
}  # fmt: skip
BEHIND = "The tables behind the figure have every number."


def write_comparison(comparison: Comparison, to: Path) -> list[Path]:
    """Write compare.html, compare.md and figures into the folder ``to``, with the names that the runs have."""
    names, where, trust = _about(comparison.runs)
    title = f"{', '.join(run.letter for run in comparison.others)} over A: {names}"
    words = {"causes": [*confounding(comparison), CONFOUNDED], "trust": trust}
    several = [overall_table(comparison)] if len(comparison.others) > 1 else []
    run_sections = [
        Section(f"{other.letter} over A{', by case' * number}", tables=[table], question="changes")
        for place, other in enumerate(comparison.others)
        for number, table in enumerate(tables_of(comparison, place, by_factor=True))
    ]
    sections = [
        Section("Times as fast as A", READING, "times-as-fast", several, question="changes", leads=True),
        *run_sections,
        Section("The speeds", SPEEDS, "speeds", question="changes"),
        Section("What differs between the runs", tables=[facts_table(comparison)], question="causes", leads=True),
        Section("The link itself (iperf3)", tables=[link_table(comparison)], question="causes"),
        Section("The runs", tables=[runs_table(comparison.runs)], question="runs", leads=True),
    ]
    drawn = {name: (draw(comparison), ABOUT[name]) for name, draw in figures.ALL.items()}
    return write_files(to, title, where, answers(comparison), words, sections, drawn)


def _about(runs: Sequence[ComparedRun]) -> tuple[str, list[str], list[str]]:
    """The names of the runs, each once; the place of each run; and the doubts about each."""
    names = dict.fromkeys(one_line(str(run.run.get("name", run.folder.label)), 80) for run in runs)
    trust = [f"{run.letter}: {doubt}." for run in runs for doubt in conditions(Analysis(run.trials))]
    return " and ".join(names), [where_from(run) for run in runs], trust


def write_pairs(pairs: PairsOfHosts, to: Path) -> list[Path]:
    """Write compare.html, compare.md and the figure into the folder ``to``, as :func:`write_comparison` does."""
    names, where, trust = _about(pairs.runs)
    title = f"{names} over {len(pairs.pairs)} pairs of hosts"
    words = {"causes": pairs_of_hosts.confounded(pairs), "trust": trust}
    effects, facts = [pairs_tables.effects_table(pairs)], [pairs_tables.facts_table(pairs)]
    sections = [
        Section("Each setting", PAIRS_READING, "over-pairs", effects, question="changes", leads=True),
        Section("In each pair", tables=[pairs_tables.effects_of_pairs_table(pairs)], question="changes"),
        Section("Speeds over the pairs", tables=[pairs_tables.speeds_table(pairs)], question="changes"),
        Section("Speeds in each pair", tables=[pairs_tables.speeds_of_pairs_table(pairs)], question="changes"),
        Section("What differs between the pairs", tables=facts, question="causes", leads=True),
        Section("The runs", tables=[runs_table(pairs.runs, "pair")], question="runs", leads=True),
    ]
    drawn = {"over-pairs": (effects_over_pairs(pairs), PAIRS_ABOUT)}
    return write_files(to, title, where, pairs_of_hosts.answers(pairs), words, sections, drawn)


def write_files(
    to: Path,
    title: str,
    where: Sequence[str],
    answers: Mapping[str, Sequence[str]],
    words: Mapping[str, Sequence[str]],
    sections: Sequence[Section],
    figures: Mapping[str, tuple[Figure, str]],
) -> list[Path]:
    """Write all of it into the folder ``to``, over an older one; the paths, the page last. Raises BadInput.

    ``where`` has lines below the title, ``answers`` sentences by their subject, ``words`` the sentences of the other
    questions. ``figures`` has the figures of the sections, each with its content in words.
    """
    try:
        to.mkdir(parents=True, exist_ok=True)
        opened = Folder.at(to)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"{to}: not a folder", "name a new one") from error
    first = [sentence for sentences in answers.values() for sentence in sentences][:1]
    with opened as place:
        with place.enter("figures") as folder:
            drawings = draw_figures({name: figure for name, (figure, _) in figures.items()}, folder)
        in_words = {name: " ".join([about, *first]) for name, (_, about) in figures.items()}
        pictures = {name: Picture(drawings[name], text, BEHIND) for name, text in in_words.items()}
        footer = "Made by file-share-lab. This page is one file, and fetches nothing."
        document = Document(title, where, list(_chapters(answers, words, sections)), pictures=pictures, footer=footer)
        post = place.replace(POST, document.to_markdown().encode())
        page = place.replace(NAME, document.to_html().encode())
    return [*(to / "figures" / f"{name}.{kind}" for name in drawings for kind in ("png", "svg")), post, page]


def _chapters(
    answers: Mapping[str, Sequence[str]], words: Mapping[str, Sequence[str]], sections: Sequence[Section]
) -> Iterator[Chapter]:
    """The chapters that have anything to show."""
    for name, question in QUESTIONS.items():
        chosen = [
            replace(section, tables=[table for table in section.tables if table.rows])
            for section in sections
            if section.question == name and (section.figure or any(table.rows for table in section.tables))
        ]
        answered = list(answers.items()) if name == "answer" and any(answers.values()) else None
        listed = words.get(name) or None
        if chosen or answered or listed:
            yield Chapter(name, question, answered, listed, sections=chosen)
