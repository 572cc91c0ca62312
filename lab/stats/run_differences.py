"""What several runs note differently of the lab, the hosts, the mounts and the load: what a difference may come of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.hosts import ROLES
from lab.results.run_keys import load_by_block
from lab.results.trial import CEILINGS, RunJson
from lab.stats.changed_facts import NONE, flatten
from lab.stats.encoding import Trials, encode
from lab.stats.factors import level_label
from lab.stats.two_runs import CASE

BOTH = "of both hosts"


@dataclass(frozen=True)
class DifferingFact:
    """One fact that is not the same in all runs, and its value in each."""

    name: str
    values: tuple[str, ...]

    @property
    def pattern(self) -> tuple[int, ...]:
        """Which runs have the same value: the number of each run's, in order of appearance."""
        numbers = {value: number for number, value in enumerate(dict.fromkeys(self.values))}
        return tuple(numbers[value] for value in self.values)


def differing_between(runs: Sequence[tuple[RunJson, Trials]]) -> list[DifferingFact]:
    """What differs between runs in their titles, the lab's version, what hosts say of themselves, and what was in
    effect in good trials of the cases that all of them tried. What is the same of client and server is one fact.
    """
    noted = [_noted(run) for run, _ in runs]
    effective = [_effective(trials) for trials in _of_common_cases([trials for _, trials in runs])]
    facts = [*_differing(noted), *_once(_differing(effective))]
    return list(_of_both(facts))


def busiest(run: RunJson) -> float:
    """The most cores that others than the lab used of a host in any block; 0 where that was not observed."""
    return max((cores for roles in load_by_block(run).values() for cores in roles.values()), default=0.0)


def _noted(run: RunJson) -> dict[str, str]:
    about = {"title": run.get("title"), "lab": run.get("code_version")}
    about |= {name: run.get(name) for name in ("target", "link")}
    return dict(flatten(about | dict(run.get("hosts", {})), ""))


def _of_common_cases(runs: Sequence[Trials]) -> list[list[tuple[str, Mapping[str, object]]]]:
    """The protocol and what was in effect of the good transfers of each run, of cases that all runs have."""
    rows = [_rows(trials) for trials in runs]
    common = set.intersection(*({case for case, _, _ in of_run} for of_run in rows))
    return [[(protocol, effective) for case, protocol, effective in of_run if case in common] for of_run in rows]


def _rows(trials: Trials) -> list[tuple[tuple[object, ...], str, Mapping[str, object]]]:
    frame = encode(trials).frame
    if "effective" not in frame:
        return []
    frame = frame[(frame["status"] == "ok") & ~frame["protocol"].isin(CEILINGS)]
    cases = zip(*(frame[name].tolist() for name in CASE), strict=True)
    return list(zip(cases, frame["protocol"].tolist(), frame["effective"].tolist(), strict=True))


def _effective(rows: Sequence[tuple[str, Mapping[str, object]]]) -> dict[str, str]:
    """What was in effect by protocol and name, such as ``smb/dialect``; several values joined."""
    values: dict[str, set[str]] = {}
    for protocol, effective in rows:
        for name, value in flatten(effective, ""):
            values.setdefault(f"{protocol}/{name}", set()).add(value)
    return {name: ", ".join(sorted(texts)) for name, texts in values.items()}


def _differing(runs: Sequence[Mapping[str, str]]) -> list[DifferingFact]:
    names = dict.fromkeys(name for run in runs for name in run)
    every = [DifferingFact(name, tuple(run.get(name, NONE) for run in runs)) for name in names]
    return [fact for fact in every if len(set(fact.values)) > 1]


def _once(facts: Sequence[DifferingFact]) -> list[DifferingFact]:
    """The same without the protocol where several say the same."""
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for fact in facts:
        protocol, _, name = fact.name.partition("/")
        together.setdefault((name, fact.values), []).append(level_label("protocol", protocol))
    return [
        DifferingFact(name if len(protocols) > 1 else f"{protocols[0]} {name}", values)
        for (name, values), protocols in together.items()
    ]


def _of_both(facts: Sequence[DifferingFact]) -> Iterator[DifferingFact]:
    """The same with one fact for what client and server say alike."""
    by_name = {fact.name: fact for fact in facts}
    for fact in facts:
        role, _, name = fact.name.partition(" ")
        twins = [by_name.get(f"{other} {name}") for other in ROLES] if role in ROLES else [None]
        if not all(twin is not None and twin.values == fact.values for twin in twins):
            yield fact
        elif role == ROLES[0]:
            yield DifferingFact(f"{name} {BOTH}", fact.values)
