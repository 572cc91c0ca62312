"""Which causes a comparison of runs cannot tell apart, and what a run that comes back to earlier facts adds to that."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from lab import stats
from lab.report.compared.comparison import ComparedRun, Comparison
from lab.report.compared.words import listed, times_as_fast
from lab.stats.run_differences import DifferingFact
from lab.stats.two_runs import Versus

MOST_PAIRS = 6  # of runs that differ in one thing alone: sentences about more of them nobody reads


def confounding(comparison: Comparison) -> list[str]:
    """What cannot be told apart in each comparison with A, and over all runs; then what repeated runs tell."""
    several = len(comparison.others) > 1  # then what runs of the same say stands below, with numbers
    pairs = [other for other in comparison.others if not several or comparison.facts_between(comparison.base, other)]
    return [
        *(_of_pair(comparison, other) for other in pairs),
        *_changed_together(comparison),
        *_apart(comparison),
        *_repeated(comparison),
    ]


def _of_pair(comparison: Comparison, other: ComparedRun) -> str:
    facts = comparison.facts_between(comparison.base, other)
    pair = f"A and {other.letter}"
    if not facts:
        return f"{pair} are runs of the same, as far as it is noted: they show how far two runs differ by themselves."
    named = listed([fact.name for fact in facts])
    if len(facts) == 1:
        return f"{pair} differ in one noted fact ({named}), and in time: these two cannot be told apart."
    return (
        f"{pair} differ in {len(facts)} noted facts ({named}), and in time: which of them is the cause cannot be told "
        "apart."
    )


def _groups(comparison: Comparison) -> list[list[DifferingFact]]:
    """The facts that changed together in all runs."""
    groups: dict[tuple[int, ...], list[DifferingFact]] = {}
    for fact in comparison.facts:
        groups.setdefault(fact.pattern, []).append(fact)
    return list(groups.values())


def _changed_together(comparison: Comparison) -> Iterator[str]:
    if len(comparison.others) < 2:
        return
    for group in _groups(comparison):
        if len(group) > 1:
            names = listed([fact.name for fact in group])
            yield f"In these runs {names} changed together each time: no comparison of them tells these apart."


def _apart(comparison: Comparison) -> Iterator[str]:
    """Pairs without A that differ in what always changed together alone, where other runs differ in more."""
    if len(_groups(comparison)) < 2:
        return
    pairs = list(itertools.combinations(comparison.others, 2))
    alone = [(one, other) for one, other in pairs if len(_patterns(comparison, one, other)) == 1]
    for one, other in alone[:MOST_PAIRS]:
        names = listed([fact.name for fact in comparison.facts_between(one, other)])
        rows = stats.rows_of(comparison.between(one, other).overall)
        fast = f": {other.letter} is {times_as_fast(rows[0], one.letter)}" if rows else ""
        yield f"{one.letter} and {other.letter} differ in {names} alone, and in time{fast}."


def _patterns(comparison: Comparison, one: ComparedRun, other: ComparedRun) -> set[tuple[int, ...]]:
    return {fact.pattern for fact in comparison.facts_between(one, other)}


def _repeated(comparison: Comparison) -> Iterator[str]:
    """What runs with the same facts say, and, where they are those of A, how far each other run lies outside that."""
    states: dict[tuple[str, ...], list[ComparedRun]] = {}
    for place, run in enumerate(comparison.runs):
        states.setdefault(tuple(fact.values[place] for fact in comparison.facts), []).append(run)
    if len(states) < 2:
        return
    for first, *again in states.values():
        for run in again:
            yield _agreement(comparison, first, run)
    of_base, *other_states = states.values()
    if len(of_base) > 1:
        for run in itertools.chain.from_iterable(other_states):
            yield _outside(comparison, run, of_base)


def _agreement(comparison: Comparison, one: ComparedRun, other: ComparedRun) -> str:
    pair, versus = f"{one.letter} and {other.letter}", comparison.between(one, other)
    if versus.overall.empty:
        return f"{pair} have the same facts, and no cases in common."
    (row,) = stats.rows_of(versus.overall)
    fast = f"{other.letter} is {times_as_fast(row, one.letter)}"
    if np.isnan(row["p_value"]):
        return f"{pair} have the same facts; too few blocks tell if they agree: {fast}."
    count = int(versus.pooled["established"].sum())
    rows = f"; {count} of {len(versus.pooled)} rows differ" if count else ", and in no row are they told apart"
    if not row["established"]:
        within = 100 * max(1 - row["ratio_low"], row["ratio_high"] - 1)
        return f"{pair} have the same facts, and agree within {within:.1f} %: {fast}{rows}."
    return f"{pair} have the same facts, and differ all the same: {fast}{rows}. So far do runs differ here anyway."


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
    if _lies_between(run, of_base):
        return f"{text}: what changed came with {run.letter}, and went with it."
    return f"{text}: what changed came with {run.letter}, or with its time: {letters} are on one side of it."


def _is_beyond(row: stats.Row, versus: Versus) -> bool:
    """Whether the interval of a row has nothing of that of the same row of A's repetition, nor of 1."""
    for other in stats.rows_of(versus.pooled):
        if all(other[name] == row[name] for name in stats.POOLED):
            low, high = min(1.0, other["ratio_low"]), max(1.0, other["ratio_high"])
            return bool(row["ratio_high"] < low or row["ratio_low"] > high)
    return False


def _lies_between(run: ComparedRun, of_base: Sequence[ComparedRun]) -> bool:
    """Whether some run of A's facts began before it, and some after it."""
    times = [other.begun for other in of_base if other.begun]
    return bool(run.begun and times and min(times) < run.begun < max(times))
