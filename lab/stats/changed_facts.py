"""What else is different after a step of a share's speed: what may have caused it, as far as the runs have noted it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.base.untrusted import one_line
from lab.results.saved_runs import SavedRun
from lab.stats.factors import POOLED

LONGEST = 200  # characters of a value: a host may say anything of itself
NONE = "–"
BITS = "bits_per_s"
# What differs from run to run with no meaning for speed
VOLATILE = {
    "available_bytes", "client_other_interfaces", "server_other_interfaces", "client_sndbuf", "client_rcvbuf",
    "server_sndbuf", "server_rcvbuf",
}  # fmt: skip


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
