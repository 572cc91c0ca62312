"""The runs of one comparison, the first of which is the base, and what is computed of them."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from lab import stats
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.results import run_folder
from lab.results.json_object import RunJson
from lab.results.run_folder import RunFolder
from lab.results.trial import read_time
from lab.stats.run_differences import DifferingFact, differing_between
from lab.stats.two_runs import Versus, compare_all, differing_levels

MOST_RUNS = 12
LONGEST_LEVELS = 500


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """A run by the ``letter`` that it has in tables and sentences."""

    letter: str
    folder: RunFolder

    @cached_property
    def trials(self) -> stats.Encoded:
        """Its trials. Raises BadInput."""
        return stats.encode(run_folder.load(self.folder.path))

    @property
    def run(self) -> RunJson:
        """Its run.json."""
        return self.folder.run

    @cached_property
    def begun(self) -> datetime | None:
        """When it began, else None."""
        try:
            return read_time(self.run.get("started_at", ""))
        except ValueError:
            return None


class Comparison:
    """Runs over the first, A. Raises BadInput for a run that cannot be read, or has no good trial of a case of A."""

    def __init__(self, folders: Sequence[RunFolder]):
        self.runs = list(map(ComparedRun, string.ascii_uppercase, folders))
        self.base, *self.others = self.runs
        self.versus = compare_all(self.base.trials, [other.trials for other in self.others])
        for other, versus in zip(self.others, self.versus, strict=True):
            self._check_common(other, versus)

    @cached_property
    def facts(self) -> list[DifferingFact]:
        """The facts that differ between the runs, with a value a run."""
        return differing_between([(run.run, run.trials) for run in self.runs])

    def levels(self, other: ComparedRun) -> list[tuple[str, str, str]]:
        """The factors with other levels in a run than in A, in words. Cases of these levels are not compared."""
        return [
            (stats.factor_label(name), _join_levels(name, mine), _join_levels(name, its))
            for name, mine, its in differing_levels(self.base.trials, other.trials)
        ]

    def between(self, first: ComparedRun, second: ComparedRun) -> Versus:
        """``second`` over ``first``."""
        if first is self.base and second is not self.base:
            return self.versus[self.others.index(second)]
        return compare_all(first.trials, [second.trials])[0]

    def facts_between(self, first: ComparedRun, second: ComparedRun) -> list[DifferingFact]:
        """The facts that differ between these two."""
        at, to = self.runs.index(first), self.runs.index(second)
        return [fact for fact in self.facts if fact.values[at] != fact.values[to]]

    def _check_common(self, other: ComparedRun, versus: Versus) -> None:
        if ((versus.cases["n_a"] > 0) & (versus.cases["n_b"] > 0)).any():
            return
        levels = "; ".join(f"{name}: {mine} and {its}" for name, mine, its in self.levels(other))
        why = f"; they differ in {one_line(levels, LONGEST_LEVELS)}" if levels else ""
        labels = f"{self.base.folder.label} and {other.folder.label}"
        raise BadInput(f"{labels}: no case has a good trial in both{why}", "compare runs of one sweep")


def _join_levels(factor: str, levels: Sequence[stats.Level]) -> str:
    return ", ".join(stats.level_label(factor, level) for level in levels)


def check_comparable(folders: Sequence[RunFolder], *, with_unfinished: bool, most: int = MOST_RUNS) -> None:
    """Raise BadInput for a run that is named twice, for more than ``most``, and for one that has not ended."""
    if len(folders) > most:
        raise BadInput(f"{len(folders)} runs: at most {most} are compared at once", "name fewer")
    named: dict[str, RunFolder] = {}
    for folder in folders:
        keys = [f"path {folder.path.resolve()}", *([f"id {folder.run['id']}"] if folder.run.get("id") else [])]
        if same := next((named[key] for key in keys if key in named), None):
            raise BadInput(f"{folder.label}: the same run as {same.label}", "name two different runs")
        named |= dict.fromkeys(keys, folder)
    for folder in folders:
        if not with_unfinished:
            folder.check_finished("compared")
