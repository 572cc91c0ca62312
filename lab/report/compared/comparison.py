"""The runs of one comparison, the first of which is the base, and what is computed of them."""

import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from lab import stats
from lab.base.errors import BadInput
from lab.base.units import size_label
from lab.base.untrusted import one_line
from lab.hosts import ROLES
from lab.results import run_folder
from lab.results.run_folder import RunFolder
from lab.results.trial import RunJson, read_time
from lab.stats.over_pairs import OverPairs, over_pairs
from lab.stats.run_differences import BOTH, DifferingFact, differing_between
from lab.stats.two_runs import Versus, compare_all

MOST_RUNS = 12
LONGEST_LEVELS = 500
MOST_RUNS_OVER_PAIRS = 400
HARDWARE = ("platform", "cpu", "cores")  # what tells hardware apart where names are replaced, and stays from run to run
GIB = 1 << 30
NAMES = ("hostname", "user", "home", "title")  # of hosts and people: a pair has its own anyway, and they cause nothing


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


@dataclass(frozen=True, eq=False)
class HostPair:
    """A client and a server that were measured together, by the ``name`` of the pair, with all runs of theirs."""

    name: str
    runs: Sequence[ComparedRun]


@dataclass(frozen=True)
class PairFact:
    """What the pairs note differently: its ``name``, and the value of each pair.

    ``pairs`` are the numbers of pairs that have each value.
    """

    name: str
    values: tuple[str, ...]

    @property
    def pairs(self) -> dict[str, int]:
        """How many pairs have each value."""
        return dict(Counter(self.values))

    @property
    def is_one_each(self) -> bool:
        """Whether no two pairs have the same value."""
        return max(self.pairs.values()) == 1

    @property
    def alone(self) -> list[str]:
        """The values that one pair alone has."""
        return [value for value, count in self.pairs.items() if count == 1]


class PairsOfHosts:
    """Runs of one sweep, by the pair of hosts that each was measured on; pairs are named P1, P2, …

    ``identities`` says which runs are of one pair: of copies without names those of the runs themselves, else what
    :func:`identity` makes of each. Raises BadInput where a run cannot be read, where all are of one pair, or where no
    two pairs have a case in common.
    """

    def __init__(self, folders: Sequence[RunFolder], identities: Sequence[tuple[str, ...]] | None = None):
        groups: dict[tuple[str, ...], list[RunFolder]] = {}
        for folder, known in zip(folders, identities or [identity(folder.run) for folder in folders], strict=True):
            groups.setdefault(known, []).append(folder)
        if len(groups) < 2:
            raise BadInput(
                f"{folders[0].label} and {len(folders) - 1} more: all are of one pair of hosts, as far as they note it",
                "name runs of several pairs; `lab compare` without --over-pairs is for runs of one",
            )
        self.pairs = [
            HostPair(f"P{number}", [ComparedRun(f"P{number}", folder, _encode(folder)) for folder in of_pair])
            for number, of_pair in enumerate(groups.values(), 1)
        ]
        if not self.table.speeds_of_pairs["row"].duplicated().any():
            raise BadInput(
                f"{folders[0].label} and {len(folders) - 1} more: no case has a good trial on two pairs",
                "name runs of one sweep",
            )

    @property
    def runs(self) -> list[ComparedRun]:
        """All runs, those of the first pair first."""
        return [run for pair in self.pairs for run in pair.runs]

    @cached_property
    def table(self) -> OverPairs:
        """See :func:`lab.stats.over_pairs.over_pairs`."""
        return over_pairs([[run.trials for run in pair.runs] for pair in self.pairs])

    @cached_property
    def facts(self) -> list[PairFact]:
        """What the runs note differently, but for names; a pair whose runs differ has all of their values."""
        differing = [*differing_between([(one.run, one.trials) for one in self.runs]), *self._of_sweeps()]
        facts: list[PairFact] = []
        for fact in differing:
            of_pairs: dict[str, list[str]] = {pair.name: [] for pair in self.pairs}
            for run, value in zip(self.runs, fact.values, strict=True):
                of_pairs[run.letter].append(value)
            joined = tuple(", ".join(dict.fromkeys(some)) for some in of_pairs.values())
            if fact.name.removesuffix(f" {BOTH}").split(" ")[-1] not in NAMES and len(set(joined)) > 1:
                facts.append(PairFact(fact.name, joined))
        return facts

    def _of_sweeps(self) -> list[DifferingFact]:
        """The text of the sweep and the size of the payload, where these are not the same in all."""
        texts = {text: f"text {number}" for number, text in enumerate(dict.fromkeys(map(_sweep_text, self.runs)), 1)}
        sizes = [
            ", ".join(size_label(int(size)) for size in sorted(set(stats.transfers(run.trials)["size_bytes"])))
            for run in self.runs
        ]
        every = [
            DifferingFact("sweep", tuple(texts[_sweep_text(run)] for run in self.runs)),
            DifferingFact("payload", tuple(sizes)),
        ]
        return [fact for fact in every if len(set(fact.values)) > 1]


def _encode(folder: RunFolder) -> stats.Encoded:
    return stats.encode(run_folder.load(folder.path))


def _sweep_text(run: ComparedRun) -> str:
    return str(run.run.get("sweep_text", ""))


def identity(run: RunJson) -> tuple[str, ...]:
    """What tells the pair of hosts of a run from others: both names, and the server of a share that was measured alone.

    Where names were replaced, each run calls its hosts alike: then hardware counts, too, and two pairs with the same
    are taken for one. That makes too few pairs of them, never too many.
    """
    hosts, target = run.get("hosts", {}), run.get("target", {})
    names = [str(hosts.get(role, {}).get("hostname", "")) for role in ROLES]
    parts = [*names, str(target.get("server", "")), str(run.get("instance") or "").partition("/")[0]]
    if "replaced" in run:
        parts += [part for role in ROLES for part in _hardware(hosts.get(role, {}))]
    return tuple(parts)


def _hardware(facts: Mapping[str, Any]) -> list[str]:
    """What a host is, by what stays when its kernel changes, which keeps a little more or less memory for itself."""
    memory, about = facts.get("memory_bytes"), facts.get("about")
    model = about.get("model") if isinstance(about, Mapping) else None
    gib = round(memory / GIB) if isinstance(memory, int | float) else None
    return [str(part) for part in (*map(facts.get, HARDWARE), gib, model)]
