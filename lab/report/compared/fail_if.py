"""Whether a run is slower than the first by more than a condition of `--fail-if` allows, chance being ruled out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lab import stats
from lab.report.compared.comparison import Comparison
from lab.report.compared.words import label, times_as_fast
from lab.report.conditions import CANNOT_TELL, MET
from lab.stats.effect_ratios import SIGNIFICANCE
from lab.stats.several_runs import slower_p


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
    """Of each row whether it meets the condition, None where that cannot be told; and what it is."""
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
