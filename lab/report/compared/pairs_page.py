"""What the files of several pairs of hosts say: the answer, a figure, tables, and what cannot be told from the pair."""

from __future__ import annotations

from pathlib import Path

from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.compared.files import Content, write_content
from lab.report.compared.pairs_answer import answers, confounded
from lab.report.compared.pairs_of_hosts import PairsOfHosts
from lab.report.compared.pairs_tables import (
    effects_of_pairs_table,
    effects_table,
    facts_table,
    speeds_of_pairs_table,
    speeds_table,
    where_from,
)
from lab.report.compared.tables import runs_table
from lab.report.figures.pairs import effects_over_pairs
from lab.report.render import Section
from lab.report.trust import conditions

READING = (
    "What each setting changes over all cases. Small marks are pairs, each with the 95 % interval of its own blocks; "
    "the large one is the mean over pairs with its interval over pairs (thick), and the thin line is where a further "
    "pair would lie. A hollow mark is not established over pairs. The axis is one of ratios: twice and half are "
    "equally far."
)
ABOUT = "A forest of effects: a mark for each pair of hosts, and one over the pairs with its interval."


def write(pairs: PairsOfHosts, to: Path) -> list[Path]:
    """Write compare.html, compare.md and the figure into the folder ``to``; the paths, the page last. Raises BadInput.

    Whatever names the runs have is shown: those of :class:`lab.results.public.Public` have none.
    """
    names = dict.fromkeys(one_line(str(run.run.get("name", run.folder.label)), 80) for run in pairs.runs)
    title = f"{' and '.join(names)} over {len(pairs.pairs)} pairs of hosts"
    where = [where_from(run) for run in pairs.runs]
    trust = [f"{run.letter}: {doubt}." for run in pairs.runs for doubt in conditions(Analysis(run.trials))]
    words = {"causes": confounded(pairs), "trust": trust}
    sections = [
        Section("Each setting", READING, "over-pairs", [effects_table(pairs)], question="changes", leads=True),
        Section("In each pair", tables=[effects_of_pairs_table(pairs)], question="changes"),
        Section("Speeds over the pairs", tables=[speeds_table(pairs)], question="changes"),
        Section("Speeds in each pair", tables=[speeds_of_pairs_table(pairs)], question="changes"),
        Section("What differs between the pairs", tables=[facts_table(pairs)], question="causes", leads=True),
        Section("The runs", tables=[runs_table(pairs.runs, "pair")], question="runs", leads=True),
    ]  # fmt: skip
    figures = {"over-pairs": (effects_over_pairs(pairs), ABOUT)}
    return write_content(Content(title, where, answers(pairs), words, sections, figures), to)
