"""How a comparison is said: `1.8 times as fast [1.6, 2.1]`, and facts that differ."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lab import stats
from lab.base.untrusted import one_line
from lab.stats.run_differences import DifferingFact

if TYPE_CHECKING:
    from lab.report.compared.comparison import ComparedRun

LONGEST_VALUE = 60  # characters of a value that is named in a sentence
LONGEST_LABEL = 80
MOST_NAMED = 6  # facts or rows of a sentence
COARSE = 0.2  # width of an interval above 1 from which on one decimal place is enough


def times(row: stats.Row) -> str:
    """The ratio of a row of VERSUS with its interval, such as ``1.8 [1.6, 2.1]``."""
    low, high = row["ratio_low"], row["ratio_high"]
    if np.isnan(low):
        return f"{_ratio(row['ratio'], 2)} [no interval]"
    places = 1 if low >= 1 and high - low >= COARSE else 2
    return f"{_ratio(row['ratio'], places)} [{_ratio(low, places)}, {_ratio(high, places)}]"


def times_as_fast(row: stats.Row, than: str = "") -> str:
    """The same in words: ``1.8 times as fast as A [1.6, 2.1]``."""
    ratio, _, interval = times(row).partition(" ")
    return f"{ratio} times as fast{f' as {than}' if than else ''} {interval}"


def _ratio(value: float, places: int) -> str:
    return f"{value:.{places}f}" if 0.1 <= value < 10 else f"{value:.3g}"


def label(row: stats.Row) -> str:
    """Where a row holds, such as ``AFP cp write``, in few characters."""
    return one_line(stats.row_label(row), LONGEST_LABEL)


def percent(row: stats.Row) -> str:
    """The change of a row in percent."""
    return f"{row['change_pct']:+.1f} %"


def fact_change(fact: DifferingFact, runs: Sequence[ComparedRun], one: ComparedRun, other: ComparedRun) -> str:
    """A fact and what became of it from one run to another, such as ``server kernel 6.1 → 6.9``."""
    values = _where_they_part(*(one_line(fact.values[runs.index(run)]) for run in (one, other)))
    return f"{one_line(fact.name, LONGEST_VALUE)} {' → '.join(one_line(value, LONGEST_VALUE) for value in values)}"


def _where_they_part(before: str, after: str) -> tuple[str, str]:
    """Two values; of long ones without the words with which both begin."""
    if max(len(before), len(after)) <= LONGEST_VALUE:
        return before, after
    words = [text.split() for text in (before, after)]
    same = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*words, strict=False))))
    first, second = (" ".join(["…", *some[same:]]) if same else " ".join(some) for some in words)
    return first, second


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Names one after another, the last with `and`; of many only the first, and how many more there are."""
    shown = list(names[:most])
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""
