"""What the files of compared runs say: the answer, figures, tables, and what may be the cause instead."""

from __future__ import annotations

from pathlib import Path

from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.compared.answer import answers
from lab.report.compared.comparison import Comparison
from lab.report.compared.confounding import confounding
from lab.report.compared.files import Content, write_content
from lab.report.compared.tables import facts_table, link_table, overall_table, runs_table, tables_of, where_from
from lab.report.figures import runs as figures
from lab.report.prose import CONFOUNDED
from lab.report.render import Section
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


def write(comparison: Comparison, to: Path) -> list[Path]:
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
