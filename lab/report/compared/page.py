"""The files of a comparison, of two runs or of several pairs of hosts: its sections, words and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.base.durable import Folder
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.compared import pairs_answer, pairs_tables
from lab.report.compared.answer import answers
from lab.report.compared.comparison import Comparison, PairsOfHosts
from lab.report.compared.confounding import confounding
from lab.report.compared.tables import facts_table, link_table, overall_table, runs_table, tables_of, where_from
from lab.report.document import Chapter, Document, Picture, Section, draw_figures
from lab.report.figures import Figure
from lab.report.figures import runs as figures
from lab.report.figures.pairs import effects_over_pairs
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
    """Write compare.html, compare.md and figures into the folder ``to``; the paths, the page last. Raises BadInput.

    Whatever names the runs have is shown: those of :class:`lab.results.public.Public` have none.
    """
    title = f"{', '.join(run.letter for run in comparison.others)} over A: {_names(comparison)}"
    where = [where_from(run) for run in comparison.runs]
    trust = [f"{run.letter}: {doubt}." for run in comparison.runs for doubt in conditions(Analysis(run.trials))]
    words = {"causes": [*confounding(comparison), CONFOUNDED], "trust": trust}
    drawn = {name: (draw(comparison), ABOUT[name]) for name, draw in figures.ALL.items()}
    return write_content(Content(title, where, answers(comparison), words, _sections(comparison), drawn), to)


def _names(comparison: Comparison) -> str:
    """What the runs are called, once where that is the same."""
    names = [one_line(str(run.run.get("name", run.folder.label)), 80) for run in comparison.runs]
    return " and ".join(dict.fromkeys(names))


def _sections(comparison: Comparison) -> list[Section]:
    """What the page and the post have below the answer, by question."""
    several = [overall_table(comparison)] if len(comparison.others) > 1 else []
    of_runs = [
        Section(f"{other.letter} over A{', by case' * number}", tables=[table], question="changes")
        for place, other in enumerate(comparison.others)
        for number, table in enumerate(tables_of(comparison, place, by_factor=True))
    ]
    return [
        Section("Times as fast as A", READING, "times-as-fast", several, question="changes", leads=True),
        *of_runs,
        Section("The speeds", SPEEDS, "speeds", question="changes"),
        Section("What differs between the runs", tables=[facts_table(comparison)], question="causes", leads=True),
        Section("The link itself (iperf3)", tables=[link_table(comparison)], question="causes"),
        Section("The runs", tables=[runs_table(comparison.runs)], question="runs", leads=True),
    ]  # fmt: skip


def write_pairs(pairs: PairsOfHosts, to: Path) -> list[Path]:
    """Write compare.html, compare.md and the figure into the folder ``to``; the paths, the page last. Raises BadInput.

    Whatever names the runs have is shown: those of :class:`lab.results.public.Public` have none.
    """
    names = dict.fromkeys(one_line(str(run.run.get("name", run.folder.label)), 80) for run in pairs.runs)
    title = f"{' and '.join(names)} over {len(pairs.pairs)} pairs of hosts"
    where = [where_from(run) for run in pairs.runs]
    trust = [f"{run.letter}: {doubt}." for run in pairs.runs for doubt in conditions(Analysis(run.trials))]
    words = {"causes": pairs_answer.confounded(pairs), "trust": trust}
    sections = [
        Section(
            "Each setting", PAIRS_READING, "over-pairs", [pairs_tables.effects_table(pairs)], question="changes",
            leads=True,
        ),
        Section("In each pair", tables=[pairs_tables.effects_of_pairs_table(pairs)], question="changes"),
        Section("Speeds over the pairs", tables=[pairs_tables.speeds_table(pairs)], question="changes"),
        Section("Speeds in each pair", tables=[pairs_tables.speeds_of_pairs_table(pairs)], question="changes"),
        Section(
            "What differs between the pairs", tables=[pairs_tables.facts_table(pairs)], question="causes", leads=True
        ),
        Section("The runs", tables=[runs_table(pairs.runs, "pair")], question="runs", leads=True),
    ]  # fmt: skip
    figures = {"over-pairs": (effects_over_pairs(pairs), PAIRS_ABOUT)}
    return write_content(Content(title, where, pairs_answer.answers(pairs), words, sections, figures), to)


@dataclass(frozen=True)
class Content:
    """What the files of a comparison say: all of it that others wrote is here.

    ``where`` are lines below the title, ``answers`` sentences by what they are about, ``words`` the sentences of the
    other questions, and ``figures`` those of the sections, each with what is to be seen in it.
    """

    title: str
    where: Sequence[str]
    answers: Mapping[str, Sequence[str]]
    words: Mapping[str, Sequence[str]]
    sections: Sequence[Section]
    figures: Mapping[str, tuple[Figure, str]]


def write_content(content: Content, to: Path) -> list[Path]:
    """Write all of it into the folder ``to``, over an older one; the paths, the page last. Raises BadInput."""
    try:
        to.mkdir(parents=True, exist_ok=True)
        opened = Folder.at(to)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadInput(f"{to}: not a folder", "name a new one") from error
    with opened as place:
        with place.enter("figures") as folder:
            drawings = draw_figures({name: figure for name, (figure, _) in content.figures.items()}, folder)
        document = _document(content, drawings)
        post = place.replace(POST, document.to_markdown().encode())
        page = place.replace(NAME, document.to_html().encode())
    return [*(to / "figures" / f"{name}.{kind}" for name in drawings for kind in ("png", "svg")), post, page]


def _document(content: Content, drawings: Mapping[str, bytes]) -> Document:
    """The chapters that have anything to show."""
    chapters = []
    for name, question in QUESTIONS.items():
        own = [
            replace(section, tables=[table for table in section.tables if table.rows])
            for section in content.sections
            if section.question == name and (section.figure or any(table.rows for table in section.tables))
        ]
        answers = list(content.answers.items()) if name == "answer" and any(content.answers.values()) else None
        listed = content.words.get(name) or None
        if own or answers or listed:
            chapters.append(Chapter(name, question, answers, listed, sections=own))
    # what is to be seen in a figure: what it draws, and the answer that it shows
    first = [sentence for sentences in content.answers.values() for sentence in sentences][:1]
    pictures = {
        name: Picture(drawings[name], " ".join([about, *first]), BEHIND) for name, (_, about) in content.figures.items()
    }
    footer = "Made by file-share-lab. This page is one file, and fetches nothing."
    return Document(content.title, content.where, chapters, pictures=pictures, footer=footer)
