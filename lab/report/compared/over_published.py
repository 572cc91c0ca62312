"""A run over the published tables of 2011 to 2015: single numbers without blocks, of other hardware."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import RenderableType

from lab import stats
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.compared.page import write_files
from lab.report.document import Section, on_screen
from lab.report.figures.over_published import changes_figure, ratios_figure
from lab.report.prose import listed, times_as_fast, warnings_of_machines
from lab.report.published import describe, describe_hosts, published_json, ratio_of, sizes, tables_beside
from lab.report.tables import TextTable
from lab.report.trust import conditions
from lab.results import run_folder
from lab.results.published import read_published
from lab.results.run_folder import RunFolder
from lab.stats.recomputed import Own, Recomputed, beside, recompute

NAME = "published"
CONFOUNDED = (
    "Hardware, systems, payloads and years differ between the published figures and B, all at once: no ratio tells "
    "what did it. The changes within each are what can be compared: does a setting do today what it did then?"
)
RATIOS = (
    "How many times as fast as published B is. Lines are the 95 % intervals of B's medians: the published figures are "
    "single numbers. The axis is one of ratios. Other hardware, so this is no change of anything."
)
CHANGES = (
    "What a setting changes: the black tick as published (recomputed, where the printed one is wrong), the mark in B, "
    "with its 95 % interval. A hollow mark is not told apart from no change. The axis is one of ratios."
)


class Beside(NamedTuple):
    """A published figure with its recomputed change, and B's numbers of the same."""

    published: Recomputed
    own: Own

    @property
    def ratio(self) -> dict[str, float]:
        """B over the published value."""
        return ratio_of(self.published.figure, self.own)

    @property
    def name(self) -> str:
        """The figure in words."""
        return one_line(describe(self.published.figure), 80)

    @property
    def change_name(self) -> str:
        """The change in words, with its baseline."""
        setting, _, level = self.published.figure.baseline.partition("=")
        against = level.upper() if setting == "protocol" else f"{setting.replace('_', ' ')} {level}"
        return f"{self.name}, against {one_line(against, 40)}"


class PublishedComparison:
    """A run, B, over what was published. Raises BadInput where it has nothing of that."""

    def __init__(self, folder: RunFolder):
        self.folder = folder
        self.trials = stats.encode(run_folder.load(folder.path))
        figures = read_published()
        self.recomputed, self.own = recompute(figures), beside(figures, self.trials)
        self.matched = [Beside(figure, own) for figure, own in zip(self.recomputed, self.own, strict=True) if own]
        if not self.matched:
            why = f"{folder.label}: nothing in it is what was published"
            raise BadInput(why, "compare a run of a sweep such as storage-2011 or blog-2011")

    @cached_property
    def changes(self) -> list[Beside]:
        """The figures that have a published change, and in B a change with an interval."""
        known = ([entry.published.change_pct, entry.own.change_low_pct] for entry in self.matched)
        return [entry for entry, change in zip(self.matched, known, strict=True) if np.isfinite(change).all()]

    @property
    def where(self) -> list[str]:
        """The names of A and B, and the provenance of B."""
        own = [*filter(None, [*stats.provenance(self.trials), sizes(self.trials)])]
        return ["A: the published tables of 2011 to 2015", f"B: {self.folder.label}", *own]

    def tables(self) -> list[TextTable]:
        """The published tables that have any figure in B."""
        return tables_beside(self.recomputed, self.own, self.folder.run)


def answer(comparison: PublishedComparison) -> list[str]:
    """How fast B is against what was published, which changes are the same, and which printed ones are wrong."""
    matched = comparison.matched
    wrong = sum(entry.published.is_slip for entry in matched)
    slip = f"{wrong} of these figures have a change that is wrong as printed: the right one stands beside it."
    return [
        f"B has {len(matched)} of the {len(comparison.recomputed)} published figures. These are single numbers without "
        "blocks: every interval is of B alone.",
        _ratios(matched),
        *_changes(comparison.changes),
        *([slip] if wrong else []),
        f"B was measured on {describe_hosts(comparison.folder.run)}.",
        *warnings_of_machines(comparison.folder.run),
    ]


def _ratios(matched: Sequence[Beside]) -> str:
    ordered = sorted(matched, key=lambda entry: entry.ratio["ratio"])
    least, most = (f"{times_as_fast(entry.ratio, 'published')} ({entry.name})" for entry in (ordered[0], ordered[-1]))
    if len(ordered) == 1:
        return f"B is {least}, on other hardware."
    return f"B is at least {least}, and at most {most}, on other hardware."


def _changes(changes: Sequence[Beside]) -> list[str]:
    if not changes:
        return ["No change that was published has an interval in B: too few blocks, or no baseline."]
    inside, opposite = 0, []
    for entry in changes:
        low, high, published = entry.own.change_low_pct, entry.own.change_high_pct, entry.published.change_pct
        inside += low <= published <= high
        if (low > 0 and published < 0) or (high < 0 and published > 0):
            opposite.append(entry.change_name)
    agree = f"{inside} {'is' if inside == 1 else 'are'} as published"
    sentences = [f"Of {len(changes)} changes that both have, {agree}: inside the interval of B."]
    if opposite:
        sentences.append(f"In {len(opposite)} B changed the other way, beyond chance: {listed(opposite)}.")
    return sentences


def published_comparison_tables(comparison: PublishedComparison) -> list[RenderableType]:
    """The answer and the tables for the terminal."""
    return on_screen([*answer(comparison), CONFOUNDED], comparison.tables(), comparison.where[1:])


def published_comparison_json(comparison: PublishedComparison) -> dict[str, object]:
    """The answer and each published figure with what B has of it, or null, as JSON values."""
    about = {"a": NAME, "b": comparison.folder.label, "warning": CONFOUNDED, "answer": answer(comparison)}
    return {**about, "figures": published_json(comparison.recomputed, comparison.own)}


def write_published(comparison: PublishedComparison, to: Path) -> list[Path]:
    """Write compare.html, compare.md and figures into the folder ``to``; the paths, the page last. Raises BadInput."""
    sections = [
        Section("Changes", CHANGES, "changes", question="changes", leads=True),
        Section("Times as fast as published", RATIOS, "times-as-fast", question="changes", leads=True),
        Section("The published tables, and B", tables=comparison.tables(), question="changes"),
    ]
    footer = comparison.where
    ratios = [(entry.published.figure.table, entry.name, entry.ratio) for entry in comparison.matched]
    changes = [
        (entry.published.figure.table, entry.change_name, entry.published.change_pct,
         (entry.own.change_pct, entry.own.change_low_pct, entry.own.change_high_pct))
        for entry in comparison.changes
    ]  # fmt: skip
    drawn = {
        "changes": (changes_figure(changes, footer), "A forest: each change as published, and in B with its interval."),
        "times-as-fast": (ratios_figure(ratios, footer), "A forest: how many times as fast as published each is in B."),
    }
    title = f"B over the tables of 2011 to 2015: {one_line(str(comparison.folder.run.get('name', '')), 80)}"
    words = {"causes": [CONFOUNDED], "trust": [f"B: {doubt}." for doubt in conditions(Analysis(comparison.trials))]}
    return write_files(to, title, footer, {"B over A": answer(comparison)}, words, sections, drawn)
