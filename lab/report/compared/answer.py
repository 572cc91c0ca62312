"""The answer of a comparison in a few sentences: what changed, where that is established, and what else did."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from lab import stats
from lab.base.untrusted import one_line
from lab.report.compared.comparison import ComparedRun, Comparison
from lab.report.conditions import CANNOT_TELL, MET
from lab.report.prose import LONGEST_VALUE, listed, short_label, times, times_as_fast, warnings_of_machines
from lab.results.run_keys import DISTURBED_CORES
from lab.stats.effect_ratios import SIGNIFICANCE
from lab.stats.run_differences import DifferingFact, busiest
from lab.stats.two_runs import Versus, slower_p

MOST_NAMED = 4


def answer(comparison: Comparison) -> list[str]:
    """The changes in each run against A, then other differences: the link, facts, other programs."""
    return [sentence for sentences in answers(comparison).values() for sentence in sentences]


def answers(comparison: Comparison) -> dict[str, list[str]]:
    """The sentences of :func:`answer` by what they are about: each run over A, then all of them."""
    parts = {
        f"{other.letter} over A": [
            _overall(other, versus), *_rows(other, versus), *_link(other, versus), _facts(comparison, other),
            *_not_compared(comparison, other, versus),
        ]
        for other, versus in zip(comparison.others, comparison.versus, strict=True)
    }  # fmt: skip
    machines = dict.fromkeys(warning for run in comparison.runs for warning in warnings_of_machines(run.run))
    about_all = [*_loads(comparison.runs), *machines]
    return parts | ({"All of them": about_all} if about_all else {})


def _overall(other: ComparedRun, versus: Versus) -> str:
    if versus.overall.empty:
        return f"{other.letter} and A have no cases that could be set against each other as a whole."
    (row,) = stats.rows_of(versus.overall)
    all_of_them = f"all {versus.n_cases} cases together" if versus.n_cases > 1 else "the one case that both have"
    fast = f"{times_as_fast(row, 'A')}, {all_of_them} ({row['change_pct']:+.1f} %)"
    if np.isnan(row["p_value"]):
        return f"{other.letter} is {fast}: too few blocks to tell that from chance."
    if row["established"]:
        return f"{other.letter} is {'faster' if row['ratio'] > 1 else 'slower'}: {fast}."
    return f"{other.letter} and A are not told apart: {other.letter} is {fast}."


def _rows(other: ComparedRun, versus: Versus) -> Iterator[str]:
    rows = sorted(stats.rows_of(versus.pooled), key=lambda row: row["ratio"])
    if len(rows) < 2:
        return
    known = [row for row in rows if not np.isnan(row["ratio"])]
    slower = [row for row in known if row["established"] and row["ratio"] < 1]
    faster = [row for row in reversed(known) if row["established"] and row["ratio"] > 1]
    for word, chosen in (("faster", faster), ("slower", slower)):
        if chosen and len(chosen) == len(rows):
            ends = [f"{times_as_fast(row)} ({short_label(row)})" for row in (chosen[0], chosen[-1])]
            all_of_them = f"all {len(rows)} rows of protocol, tool and direction"
            yield f"{other.letter} is established to be {word} in {all_of_them}: from {' to '.join(ends)}."
        elif chosen:
            named = [f"{short_label(row)}, {times(row)}" for row in chosen]
            yield f"{other.letter} is established to be {word}, times as fast: {_semicolons(named)}."
    others = [short_label(row) for row in known if not row["established"] and not np.isnan(row["p_value"])]
    if others:
        yield f"Not told apart: {listed(others, MOST_NAMED)}."
    if len(known) < len(rows):
        lost = [short_label(row) for row in rows if np.isnan(row["ratio"])]
        yield f"Without a block that has all their cases in both runs: {listed(lost, MOST_NAMED)}."


def _semicolons(names: Sequence[str]) -> str:
    more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return "; ".join([*names[:MOST_NAMED], *more])


def _link(other: ComparedRun, versus: Versus) -> Iterator[str]:
    rows = [row for row in stats.rows_of(versus.link) if not np.isnan(row["ratio"])]
    if not rows:
        yield f"What the bare link carries was not measured in both A and {other.letter}."
        return
    changed = [row for row in rows if row["established"]]
    named = " and ".join(f"{times(row)} ({row['direction']})" for row in changed or rows)
    fast = f"it was {named} times as fast in {other.letter}."
    cause = " So the link, rather than what was changed, may be the cause." if changed else ""
    yield f"The bare link (iperf3) {'differs, too' if changed else 'is not told apart'}: {fast}{cause}"


def _facts(comparison: Comparison, other: ComparedRun) -> str:
    facts = comparison.facts_between(comparison.base, other)
    if not facts:
        return f"Of what the runs note of the lab, hosts and mounts nothing differs between A and {other.letter}."
    named = [_fact_change(fact, comparison, other) for fact in facts]
    return f"What else differs between A and {other.letter}: {_semicolons(named)}."


def _fact_change(fact: DifferingFact, comparison: Comparison, other: ComparedRun) -> str:
    """A fact and its values in A and in another run, such as ``server kernel 6.1 → 6.9``."""
    values = [one_line(fact.values[comparison.runs.index(run)]) for run in (comparison.base, other)]
    if max(map(len, values)) > LONGEST_VALUE:  # leave out the words with which both begin
        words = [value.split() for value in values]
        same = len(list(itertools.takewhile(lambda both: both[0] == both[1], zip(*words, strict=False))))
        values = [" ".join(["…", *value[same:]]) if same else " ".join(value) for value in words]
    return f"{one_line(fact.name, LONGEST_VALUE)} {' → '.join(one_line(value, LONGEST_VALUE) for value in values)}"


def _not_compared(comparison: Comparison, other: ComparedRun, versus: Versus) -> Iterator[str]:
    if not any(versus.alone):
        return
    counts = [f"{count} of {letter}" for count, letter in zip(versus.alone, ("A", other.letter), strict=True) if count]
    words = ([one_line(text, LONGEST_VALUE) for text in levels] for levels in comparison.levels(other))
    levels = [f"{name} {mine} and {its}" for name, mine, its in words]
    why = f": {_semicolons(levels)}" if levels else ""
    yield f"Not compared are cases that only one of them has ({' and '.join(counts)}){why}."


def _loads(runs: Sequence[ComparedRun]) -> Iterator[str]:
    loads = {run.letter: busiest(run.run) for run in runs}
    if max(loads.values()) > DISTURBED_CORES:
        named = listed([f"{cores:.1f} in {letter}" for letter, cores in loads.items()], len(loads))
        yield f"Other programs used cores of the hosts meanwhile, at most {named}: that may differ in each run."


def judge_slower(comparison: Comparison, percent: float) -> tuple[int, list[str]]:
    """The exit code, and a sentence a row of protocol, tool and direction.

    A row meets the condition if the test of "slower by no more than that" has a p-value below 0.05. The p-value is
    adjusted by Holm for all rows of all runs. Then the row's 95 % interval lies wholly beyond the limit. The code is
    MET if any row meets it, else CANNOT_TELL if a row has too few blocks for the test, else 0.
    """
    sentences, code = [], 0
    tables = [versus.pooled for versus in comparison.versus]
    for other, table, p_values in zip(comparison.others, tables, slower_p(tables, percent), strict=True):
        for row, p in zip(stats.rows_of(table), p_values, strict=True):
            name = f"{short_label(row)} of {other.letter}"
            if np.isnan(p):
                counted = f"{row['n_a']} and {row['n_b']} blocks with all its cases"
                sentence = f"cannot be told: {name} has {counted}, or no scatter in them"
                code = code or CANNOT_TELL
            else:
                is_met = p < SIGNIFICANCE
                sentence = f"{'met' if is_met else 'not met'}: {name} is {times_as_fast(row, 'A')}"
                code = MET if is_met else code
            sentences.append(f"slower-than {percent:g}%: {sentence}")
    return code, sentences
