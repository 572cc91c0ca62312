"""What differs between runs in the lab, the hosts, the mounts and the load: possible causes of other speeds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.base.groups import grouped
from lab.base.untrusted import one_line
from lab.hosts import ROLES
from lab.results.json_object import RunJson
from lab.results.run_keys import load_by_block
from lab.results.saved_runs import SavedRun
from lab.results.trial import CEILINGS
from lab.stats.encoding import Trials, encode
from lab.stats.factors import POOLED, level_label
from lab.stats.two_runs import CASE

BOTH = "of both hosts"
LONGEST = 200  # characters of a value: a host may report anything
NONE = "–"
BITS = "bits_per_s"
# Facts that differ from run to run without meaning for speed
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
        """Which runs share a value: a number for each run, in order of appearance."""
        distinct = list(dict.fromkeys(self.values))
        return tuple(distinct.index(value) for value in self.values)


def differing_between(runs: Sequence[tuple[RunJson, Trials]]) -> list[DifferingFact]:
    """The differences between runs: titles, the lab's version, facts about hosts, and settings in effect. The settings
    are those in good trials of the cases that all runs tried. A fact that client and server share is named once.
    """
    noted = [dict(flatten({"title": run.get("title")})) | _facts_of_run(run) for run, _ in runs]
    rows = [_good_transfers(trials) for _, trials in runs]
    common = set.intersection(*({case for case, _, _ in of_run} for of_run in rows))
    effective = [
        _join_values(
            (f"{protocol}/{name}", value)
            for case, protocol, in_effect in of_run
            if case in common
            for name, value in flatten(in_effect)
        )
        for of_run in rows
    ]
    return list(_merge_roles([*_differing(noted), *_merge_protocols(_differing(effective))]))


def busiest(run: RunJson) -> float:
    """The most cores that other programs used on a host in any block; 0 where that was not observed."""
    return max((cores for roles in load_by_block(run).values() for cores in roles.values()), default=0.0)


def _facts_of_run(run: RunJson) -> dict[str, str]:
    """Facts about the lab and the hosts, by name."""
    about = {"lab": run.get("code_version"), "target": run.get("target"), "link": run.get("link")}
    return dict(flatten(about | dict(run.get("hosts", {}))))


def _good_transfers(trials: Trials) -> list[tuple[tuple[object, ...], str, Mapping[str, object]]]:
    """The case, the protocol and the settings in effect of each good transfer."""
    frame = encode(trials).frame
    if "effective" not in frame:
        return []
    frame = frame[(frame["status"] == "ok") & ~frame["protocol"].isin(CEILINGS)]
    cases = zip(*(frame[name].tolist() for name in CASE), strict=True)
    return list(zip(cases, frame["protocol"].tolist(), frame["effective"].tolist(), strict=True))


def _join_values(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The values of each name; several are joined."""
    return {name: ", ".join(sorted(set(texts))) for name, texts in grouped(pairs).items()}


def _differing(runs: Sequence[Mapping[str, str]]) -> list[DifferingFact]:
    names = dict.fromkeys(name for run in runs for name in run)
    every = [DifferingFact(name, tuple(run.get(name, NONE) for run in runs)) for name in names]
    return [fact for fact in every if len(set(fact.values)) > 1]


def _merge_protocols(facts: Sequence[DifferingFact]) -> list[DifferingFact]:
    """Facts such as ``smb/dialect``; a fact that several protocols share is named once, without a protocol."""
    named = ((fact.name.partition("/"), fact.values) for fact in facts)
    groups = grouped(((name, values), level_label("protocol", protocol)) for (protocol, _, name), values in named)
    return [
        DifferingFact(name if len(protocols) > 1 else f"{protocols[0]} {name}", values)
        for (name, values), protocols in groups.items()
    ]


def _merge_roles(facts: Sequence[DifferingFact]) -> Iterator[DifferingFact]:
    """The same facts; a fact that client and server share is named once."""
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
    """The value of one fact before a step and after it; ``only_then``: it never changed within either level."""

    name: str
    before: str
    after: str
    only_then: bool


def changed_facts(before: Sequence[SavedRun], after: Sequence[SavedRun], at: Mapping[str, str]) -> list[ChangedFact]:
    """Differences of the last run ``before`` a step and the first ``after``, ``at`` a row; changes only then first."""
    levels = [[_facts(run, at) for run in runs] for runs in (before, after)]
    last, first = levels[0][-1], levels[1][0]
    names = [name for name in dict.fromkeys([*last, *first]) if last.get(name) != first.get(name)]
    steady = {name: all(len({facts.get(name) for facts in level}) == 1 for level in levels) for name in names}
    changed = [ChangedFact(name, last.get(name, NONE), first.get(name, NONE), steady[name]) for name in names]
    return sorted(changed, key=lambda fact: not fact.only_then)


def _facts(run: SavedRun, at: Mapping[str, str]) -> dict[str, str]:
    """Facts about the lab and the hosts, and the settings in effect in good trials of one row, by name."""
    noted = [
        {**trial.effective.to_json(), **trial.options, "workload": trial.workload, "payload": trial.size_bytes}
        for trial in run.trials
        if trial.status == "ok" and all(str(getattr(trial, name)) == at[name] for name in POOLED)
    ]
    return _facts_of_run(run.run) | _join_values(pair for of_trial in noted for pair in flatten(of_trial))


def flatten(node: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names, such as ``client tools rsync``, and values as text, of nested JSON objects."""
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key} ")
        elif value is not None and key not in VOLATILE:
            name = f"{prefix}{key}"
            if name.endswith(BITS) and isinstance(value, int | float):
                name, value = name.removesuffix(BITS), f"{value / 1e6:g} Mbit/s"
            yield one_line(name.replace("_", " ").strip(), LONGEST), one_line(str(value), LONGEST)
