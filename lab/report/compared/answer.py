"""The answer of a comparison in a few sentences: what changed, where that is established, and what else did."""

from collections.abc import Iterator, Sequence

import numpy as np

from lab import stats
from lab.base.untrusted import one_line
from lab.report.compared.comparison import ComparedRun, Comparison
from lab.report.compared.words import LONGEST_VALUE, fact_change, label, listed, percent, times, times_as_fast
from lab.report.conditions import CANNOT_TELL, MET
from lab.report.prose import warnings_of_machines
from lab.results.run_keys import DISTURBED_CORES
from lab.stats.effect_ratios import SIGNIFICANCE
from lab.stats.run_differences import busiest
from lab.stats.two_runs import Versus, slower_p

MOST_NAMED = 4


def answer(comparison: Comparison) -> list[str]:
    """What changed in each run against A, where, and what else is different: the link, facts, other programs."""
    return [sentence for sentences in answers(comparison).values() for sentence in sentences]


def answers(comparison: Comparison) -> dict[str, list[str]]:
    """The same by what it is about: each run over A, then all of them."""
    parts = {
        f"{other.letter} over A": [
            _overall(other, versus), *_rows(other, versus), *_link(other, versus), _facts(comparison, other),
            *_not_compared(comparison, other, versus),
        ]
        for other, versus in zip(comparison.others, comparison.versus, strict=True)
    }  # fmt: skip
    of_all = [*_loads(comparison.runs), *_machines(comparison.runs)]
    return parts | ({"All of them": of_all} if of_all else {})


def _overall(other: ComparedRun, versus: Versus) -> str:
    if versus.overall.empty:
        return f"{other.letter} and A have no cases that could be set against each other as a whole."
    (row,) = stats.rows_of(versus.overall)
    every = f"all {versus.n_cases} cases together" if versus.n_cases > 1 else "the one case that both have"
    fast = f"{times_as_fast(row, 'A')}, {every} ({percent(row)})"
    if np.isnan(row["p_value"]):
        return f"{other.letter} is {fast}: too few blocks to tell that from chance."
    if row["established"]:
        return f"{other.letter} is {'faster' if row['ratio'] > 1 else 'slower'}: {fast}."
    return f"{other.letter} and A are not told apart: {other.letter} is {fast}."


def _rows(other: ComparedRun, versus: Versus) -> Iterator[str]:
    """Which protocols, tools and directions are established to be faster or slower, and which are not."""
    rows = sorted(stats.rows_of(versus.pooled), key=lambda row: row["ratio"])
    if len(rows) < 2:
        return
    known = [row for row in rows if not np.isnan(row["ratio"])]
    established = [row for row in known if row["established"]]
    slower = [row for row in established if row["ratio"] < 1]
    faster = [row for row in reversed(established) if row["ratio"] > 1]
    for word, chosen in (("faster", faster), ("slower", slower)):
        if chosen and len(chosen) == len(rows):
            ends = [f"{times_as_fast(row)} ({label(row)})" for row in (chosen[0], chosen[-1])]
            every = f"all {len(rows)} rows of protocol, tool and direction"
            yield f"{other.letter} is established to be {word} in {every}: from {' to '.join(ends)}."
        elif chosen:
            named = [f"{label(row)}, {times(row)}" for row in chosen]
            yield f"{other.letter} is established to be {word}, times as fast: {_semicolons(named)}."
    others = [label(row) for row in known if not row["established"] and not np.isnan(row["p_value"])]
    if others:
        yield f"Not told apart: {listed(others, MOST_NAMED)}."
    if len(known) < len(rows):
        lost = [label(row) for row in rows if np.isnan(row["ratio"])]
        yield f"Without a block that has all their cases in both runs: {listed(lost, MOST_NAMED)}."


def _semicolons(names: Sequence[str]) -> str:
    more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return "; ".join([*names[:MOST_NAMED], *more])


def _link(other: ComparedRun, versus: Versus) -> Iterator[str]:
    """Whether the bare link changed, too: then it may be the cause of everything else."""
    rows = [row for row in stats.rows_of(versus.link) if not np.isnan(row["ratio"])]
    if not rows:
        yield f"What the bare link carries was not measured in both A and {other.letter}."
        return
    changed = [row for row in rows if row["established"]]
    if changed:
        named = " and ".join(f"{times(row)} ({row['direction']})" for row in changed)
        yield (
            f"The bare link (iperf3) differs, too: it was {named} times as fast in {other.letter}. So the link, rather "
            "than what was changed, may be the cause."
        )
        return
    named = " and ".join(f"{times(row)} ({row['direction']})" for row in rows)
    yield f"The bare link (iperf3) is not told apart: it was {named} times as fast in {other.letter}."


def _facts(comparison: Comparison, other: ComparedRun) -> str:
    facts = comparison.facts_between(comparison.base, other)
    if not facts:
        return f"Of what the runs note of the lab, hosts and mounts nothing differs between A and {other.letter}."
    named = [fact_change(fact, comparison.runs, comparison.base, other) for fact in facts]
    return f"What else differs between A and {other.letter}: {_semicolons(named)}."


def _not_compared(comparison: Comparison, other: ComparedRun, versus: Versus) -> Iterator[str]:
    if not any(versus.alone):
        return
    counts = [f"{count} of {letter}" for count, letter in zip(versus.alone, ("A", other.letter), strict=True) if count]
    levels = [
        " ".join([one_line(name, LONGEST_VALUE), one_line(mine, LONGEST_VALUE), "and", one_line(its, LONGEST_VALUE)])
        for name, mine, its in comparison.levels(other)
    ]
    why = f": {_semicolons(levels)}" if levels else ""
    yield f"Not compared are cases that only one of them has ({' and '.join(counts)}){why}."


def _loads(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """Whether other programs took part, where they used more than the lab itself needs."""
    loads = {run.letter: busiest(run.run) for run in runs}
    if max(loads.values()) > DISTURBED_CORES:
        named = listed([f"{cores:.1f} in {letter}" for letter, cores in loads.items()], len(loads))
        yield f"Other programs used cores of the hosts meanwhile, at most {named}: that may differ in each run."


def _machines(runs: Sequence[ComparedRun]) -> list[str]:
    return list(dict.fromkeys(warning for run in runs for warning in warnings_of_machines(run.run)))


def judge_slower(comparison: Comparison, percent: float) -> tuple[int, list[str]]:
    """The exit code, and a sentence a row of protocol, tool and direction.

    A row meets the condition where the test of "slower by no more than that" has a p-value below 0.05, adjusted by Holm
    for all rows of all runs; then its 95 % interval lies wholly beyond the limit. MET for any such row; else
    CANNOT_TELL where a row has too few blocks for that, and 0.
    """
    verdicts = list(_judge(comparison, percent))
    words = {True: "met", False: "not met", None: "cannot be told"}
    sentences = [f"slower-than {percent:g}%: {words[is_met]}: {sentence}" for is_met, sentence in verdicts]
    if any(is_met for is_met, _ in verdicts):
        return MET, sentences
    return (CANNOT_TELL if any(is_met is None for is_met, _ in verdicts) else 0), sentences


def _judge(comparison: Comparison, percent: float) -> Iterator[tuple[bool | None, str]]:
    """Whether each row meets the condition (None if that cannot be told), and the row in words."""
    tables = [versus.pooled for versus in comparison.versus]
    for other, table, p_values in zip(comparison.others, tables, slower_p(tables, percent), strict=True):
        for row, p in zip(stats.rows_of(table), p_values, strict=True):
            name = f"{label(row)} of {other.letter}"
            if np.isnan(p):
                yield (
                    None,
                    f"{name} has {row['n_a']} and {row['n_b']} blocks with all its cases, or no scatter in them",
                )
            else:
                yield bool(p < SIGNIFICANCE), f"{name} is {times_as_fast(row, 'A')}"
