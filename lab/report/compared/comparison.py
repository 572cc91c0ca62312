"""The runs of one comparison, the first of which is the base, and what is computed of them."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from lab import stats
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.results import run_folder
from lab.results.run_folder import RunFolder
from lab.results.trial import RunJson, read_time
from lab.stats.run_differences import DifferingFact, differing_between
from lab.stats.several_runs import Versus, compare_all

MOST_RUNS = 12
LONGEST_LEVELS = 500


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """One of the runs, by the ``letter`` that it has in tables and sentences."""

    letter: str
    folder: RunFolder
    trials: stats.Encoded

    @property
    def run(self) -> RunJson:
        """Its run.json."""
        return self.folder.run

    @cached_property
    def begun(self) -> datetime | None:
        """When it began; None where it does not say so."""
        try:
            return read_time(self.run.get("started_at", ""))
        except ValueError:
            return None


class Comparison:
    """Runs over the first of them, which is A.

    Raises BadInput where a run cannot be read, or has no case with a good trial that A has, too.
    """

    def __init__(self, folders: Sequence[RunFolder]):
        letters = string.ascii_uppercase[: len(folders)]
        self.runs = [
            ComparedRun(letter, folder, stats.encode(run_folder.load(folder.path)))
            for letter, folder in zip(letters, folders, strict=True)
        ]
        self.base, *self.others = self.runs
        self.versus = compare_all(self.base.trials, [other.trials for other in self.others])
        for other, versus in zip(self.others, self.versus, strict=True):
            self._check_common(other, versus)

    @cached_property
    def facts(self) -> list[DifferingFact]:
        """What the runs note differently, a value a run."""
        return differing_between([(one.run, one.trials) for one in self.runs])

    def levels(self, other: ComparedRun) -> list[tuple[str, str, str]]:
        """The factors with other levels in a run than in A, as words: those cases are not compared."""
        return [
            (stats.factor_label(name), _join_levels(name, mine), _join_levels(name, its))
            for name, mine, its in stats.differing_levels(self.base.trials, other.trials)
        ]

    def between(self, one: ComparedRun, other: ComparedRun) -> Versus:
        """``other`` over ``one``, whichever they are."""
        if one is self.base and other is not self.base:
            return self.versus[self.others.index(other)]
        return compare_all(one.trials, [other.trials])[0]

    def facts_between(self, one: ComparedRun, other: ComparedRun) -> list[DifferingFact]:
        """What these two note differently."""
        at, to = self.runs.index(one), self.runs.index(other)
        return [fact for fact in self.facts if fact.values[at] != fact.values[to]]

    def _check_common(self, other: ComparedRun, versus: Versus) -> None:
        if ((versus.cases["n_a"] > 0) & (versus.cases["n_b"] > 0)).any():
            return
        levels = "; ".join(f"{name}: {mine} and {its}" for name, mine, its in self.levels(other))
        why = f"; they differ in {one_line(levels, LONGEST_LEVELS)}" if levels else ""
        labels = f"{self.base.folder.label} and {other.folder.label}"
        raise BadInput(f"{labels}: no case has a good trial in both{why}", "compare runs of one sweep")


def check_comparable(folders: Sequence[RunFolder], *, with_unfinished: bool, most: int = MOST_RUNS) -> None:
    """Raise BadInput for a run that is named twice, for more than ``most``, and for one that has not ended."""
    if len(folders) > most:
        raise BadInput(f"{len(folders)} runs: at most {most} are compared at once", "name fewer")
    seen: dict[str, RunFolder] = {}
    for folder in folders:
        for key in _keys_of(folder):
            if key in seen:
                raise BadInput(f"{folder.label}: the same run as {seen[key].label}", "name two different runs")
        seen |= dict.fromkeys(_keys_of(folder), folder)
    for folder in folders:
        if not folder.run.get("finished_at") and not with_unfinished:
            raise BadInput(
                f"{folder.label}: not finished: it is still running, or was killed",
                f"`lab run --resume {folder.label}` goes on with it; with --unfinished what it has is compared",
            )


def _keys_of(folder: RunFolder) -> list[str]:
    """What tells a run from all others: where it lies, and what it was called when it began."""
    return [f"path {folder.path.resolve()}", *([f"id {folder.run['id']}"] if folder.run.get("id") else [])]


def _join_levels(factor: str, levels: Sequence[stats.Level]) -> str:
    return ", ".join(stats.level_label(factor, level) for level in levels)
