"""What several runs note differently of the lab, the hosts, the mounts and the load: what a difference may come of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.base.untrusted import one_line
from lab.hosts import ROLES
from lab.results.run_keys import load_by_block
from lab.results.saved_runs import SavedRun
from lab.results.trial import CEILINGS, RunJson
from lab.stats.encoding import Trials, encode
from lab.stats.factors import POOLED, level_label
from lab.stats.two_runs import CASE

BOTH = "of both hosts"
LONGEST = 200  # characters of a value: a host may say anything of itself
NONE = "–"
BITS = "bits_per_s"
# What differs from run to run with no meaning for speed
VOLATILE = {
    "available_bytes", "client_other_interfaces", "server_other_interfaces", "client_sndbuf", "client_rcvbuf",
    "server_sndbuf", "server_rcvbuf",
}  # fmt: skip


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


@dataclass(frozen=True)
class ChangedFact:
    """What one fact was before a step and after it; ``only_then``: it has never changed inside these two levels."""

    name: str
    before: str
    after: str
    only_then: bool


def changed_facts(before: Sequence[SavedRun], after: Sequence[SavedRun], at: Mapping[str, str]) -> list[ChangedFact]:
    """What differs between the last run before a step and the first one after it; what changed only then comes first.

    ``before`` and ``after`` are the runs of both levels, ``at`` says whose trials were looked at.
    """
    levels = [[_facts(run, at) for run in runs] for runs in (before, after)]
    last, first = levels[0][-1], levels[1][0]
    names = [name for name in dict.fromkeys([*last, *first]) if last.get(name) != first.get(name)]
    changed = [
        ChangedFact(name, last.get(name, NONE), first.get(name, NONE), _never_changed(levels, name)) for name in names
    ]
    return sorted(changed, key=lambda fact: not fact.only_then)


def _never_changed(levels: Sequence[Sequence[Mapping[str, str]]], name: str) -> bool:
    return all(len({facts.get(name) for facts in level}) == 1 for level in levels)


def _facts(run: SavedRun, at: Mapping[str, str]) -> dict[str, str]:
    """What a run notes of the lab, of its hosts, and of what was in effect in the trials of one row, by name."""
    about = {"lab": run.run.get("code_version"), **{name: run.run.get(name) for name in ("target", "link")}}
    facts = dict(flatten(about | dict(run.run.get("hosts", {})), ""))
    trials = [trial for trial in run.trials if trial.status == "ok" and _is_at(trial, at)]
    values: dict[str, list[str]] = {}
    for trial in trials:
        noted = {**trial.effective.to_json(), **trial.options, "workload": trial.workload, "payload": trial.size_bytes}
        for name, value in flatten(noted, ""):
            values.setdefault(name, []).append(value)
    return facts | {name: ", ".join(sorted(set(texts))) for name, texts in values.items()}


def _is_at(trial: object, at: Mapping[str, str]) -> bool:
    return all(str(getattr(trial, name)) == at[name] for name in POOLED)


def flatten(node: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    """Names, such as ``client tools rsync``, and values as text, of JSON objects in JSON objects."""
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key} ")
        elif value is not None and key not in VOLATILE:
            yield _word(f"{prefix}{key}", value)


def _word(name: str, value: object) -> tuple[str, str]:
    if name.endswith(BITS) and isinstance(value, int | float):
        name, value = name.removesuffix(BITS), f"{value / 1e6:g} Mbit/s"
    return one_line(name.replace("_", " ").strip(), LONGEST), one_line(str(value), LONGEST)
