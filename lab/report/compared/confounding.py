"""Which causes a comparison of runs cannot tell apart, and what a run that comes back to earlier facts adds to that."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from lab import stats
from lab.base.groups import grouped
from lab.report.compared.comparison import ComparedRun, Comparison
from lab.report.prose import listed, times_as_fast
from lab.stats.two_runs import Versus

MOST_PAIRS = 6  # pairs of runs that differ in one thing alone; nobody reads more sentences


def confounding(comparison: Comparison) -> list[str]:
    """The causes that cannot be told apart, with A and over all runs; then what repeated runs tell."""
    several = len(comparison.others) > 1  # then the sentences on repeated runs have what runs of the same say
    others = [other for other in comparison.others if not several or comparison.facts_between(comparison.base, other)]
    over_base = [_over_base(comparison, other) for other in others]
    together = _changed_together(comparison) if several else []
    return [*over_base, *together, *_apart(comparison), *_repeated(comparison)]


def _over_base(comparison: Comparison, other: ComparedRun) -> str:
    facts, runs = comparison.facts_between(comparison.base, other), f"A and {other.letter}"
    if not facts:
        return f"{runs} are runs of the same, as far as it is noted: they show how far two runs differ by themselves."
    named = listed([fact.name for fact in facts])
    if len(facts) == 1:
        return f"{runs} differ in one noted fact ({named}), and in time: these two cannot be told apart."
    cause = "which of them is the cause cannot be told apart."
    return f"{runs} differ in {len(facts)} noted facts ({named}), and in time: {cause}"


def _changed_together(comparison: Comparison) -> Iterator[str]:
    for names in grouped((fact.pattern, fact.name) for fact in comparison.facts).values():
        if len(names) > 1:
            yield f"In these runs {listed(names)} changed together each time: no comparison of them tells these apart."


def _apart(comparison: Comparison) -> Iterator[str]:
    """Two runs without A that differ only in what always changed together, where other runs differ in more."""
    if len({fact.pattern for fact in comparison.facts}) < 2:
        return
    pairs = itertools.combinations(comparison.others, 2)
    differing = [(first, second, comparison.facts_between(first, second)) for first, second in pairs]
    alone = [entry for entry in differing if len({fact.pattern for fact in entry[2]}) == 1]
    for first, second, facts in alone[:MOST_PAIRS]:
        rows = stats.rows_of(comparison.between(first, second).overall)
        fast = f": {second.letter} is {times_as_fast(rows[0], first.letter)}" if rows else ""
        names = listed([fact.name for fact in facts])
        yield f"{first.letter} and {second.letter} differ in {names} alone, and in time{fast}."


def _repeated(comparison: Comparison) -> Iterator[str]:
    """How far runs with the same facts agree; if they have A's facts, how far each other run lies outside."""
    runs = enumerate(comparison.runs)
    states = grouped((tuple(fact.values[place] for fact in comparison.facts), run) for place, run in runs)
    if len(states) < 2:
        return
    for first, *again in states.values():
        for run in again:
            yield _agreement(comparison, first, run)
    of_base, *other_states = states.values()
    if len(of_base) > 1:
        for run in itertools.chain.from_iterable(other_states):
            yield _outside(comparison, run, of_base)


def _agreement(comparison: Comparison, first: ComparedRun, second: ComparedRun) -> str:
    same = f"{first.letter} and {second.letter} have the same facts"
    versus = comparison.between(first, second)
    if versus.overall.empty:
        return f"{same}, and no cases in common."
    (row,) = stats.rows_of(versus.overall)
    fast = f"{second.letter} is {times_as_fast(row, first.letter)}"
    if np.isnan(row["p_value"]):
        return f"{same}; too few blocks tell if they agree: {fast}."
    count = int(versus.pooled["established"].sum())
    rows = f"; {count} of {len(versus.pooled)} rows differ" if count else ", and in no row are they told apart"
    if not row["established"]:
        within = 100 * max(1 - row["ratio_low"], row["ratio_high"] - 1)
        return f"{same}, and agree within {within:.1f} %: {fast}{rows}."
    return f"{same}, and differ all the same: {fast}{rows}. So far do runs differ here anyway."


def _outside(comparison: Comparison, run: ComparedRun, of_base: Sequence[ComparedRun]) -> str:
    """In how many rows a run differs from A by more than A's own repetitions do, and what that says."""
    established = [row for row in stats.rows_of(comparison.between(comparison.base, run).pooled) if row["established"]]
    if not established:
        return f"{run.letter} is told apart from A in no row."
    again = [comparison.between(comparison.base, other) for other in of_base[1:]]
    beyond = [row for row in established if all(_is_beyond(row, versus) for versus in again)]
    letters = listed([other.letter for other in of_base], len(of_base))
    counted = f"In {len(beyond)} of the {len(established)} rows where {run.letter} is told apart from A"
    text = f"{counted} its interval lies outside those of {letters} among themselves"
    if not beyond:
        return f"{text}: what changed may be no more than how far runs differ anyway."
    times = [other.begun for other in of_base if other.begun]
    if run.begun and times and min(times) < run.begun < max(times):
        return f"{text}: what changed came with {run.letter}, and went with it."
    return f"{text}: what changed came with {run.letter}, or with its time: {letters} are on one side of it."


def _is_beyond(row: stats.Row, versus: Versus) -> bool:
    """Whether the interval of a row lies outside 1 and outside the interval of the same row in A's repetition."""
    for other in stats.rows_of(versus.pooled):
        if all(other[name] == row[name] for name in stats.POOLED):
            low, high = min(1.0, other["ratio_low"]), max(1.0, other["ratio_high"])
            return bool(row["ratio_high"] < low or row["ratio_low"] > high)
    return False
