"""Changes in percent, and 95 % intervals: of a median without a distribution, of a mean by Student's t."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lab.design.stopping import INTERVAL_BLOCKS
from lab.stats.distributions import Floats as Floats
from lab.stats.distributions import student_t, two_sided_p


def percent_change(baseline: Any, value: Any) -> Any:
    """How much ``value`` differs from ``baseline``, in percent of the baseline: 100 × (value − baseline) / baseline.

    There is one formula, one place and one order of arguments, for numbers and arrays. ValueError unless every
    baseline is above zero.
    """
    if not np.all(np.greater(baseline, 0)):
        raise ValueError(f"a change from {baseline} has no percentage")
    return 100 * (value - baseline) / baseline


def sort_by_group(group: npt.NDArray[np.integer[Any]], values: Floats, count: int) -> list[Floats]:
    """The values of each of ``count`` groups, sorted; ``group`` is the number of each value's."""
    in_order = np.argsort(group.astype(np.min_scalar_type(count)), kind="stable")  # small numbers are sorted faster
    ends = np.cumsum(np.bincount(group, minlength=count))
    return [np.sort(part) for part in np.split(values[in_order], ends)[:-1]]


def median(ordered: Floats) -> float:
    """The median of sorted values; NaN where there are none."""
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2 if len(ordered) else np.nan


def median_interval(values: npt.ArrayLike) -> tuple[float, float]:
    """The exact 95 % interval of the median from order statistics; (NaN, NaN) for fewer than 6 values.

    With x(1) ≤ … ≤ x(n), the median lies outside [x(k), x(n+1−k)] with probability 2 P(Bin(n, ½) ≤ k − 1) or less,
    whatever the distribution; k is the largest for which that is at most 5 %. Values pooled from equally frequent
    cases keep at least that coverage for the median of the pool (Hoeffding 1956). Source: David and Nagaraja, Order
    Statistics, 3rd ed., section 7.1; the same interval inverts the sign test (Conover, Practical Nonparametric
    Statistics, section 3.4).
    """
    return sorted_interval(np.sort(np.asarray(values, dtype=float)))


def sorted_interval(ordered: Floats) -> tuple[float, float]:
    """:func:`median_interval` of sorted values."""
    rank = interval_rank(len(ordered))
    return (float(ordered[rank - 1]), float(ordered[-rank])) if rank else (np.nan, np.nan)


@functools.lru_cache
def interval_rank(count: int) -> int:
    """The k of :func:`median_interval` for ``count`` values; 0 when there is none.

    Looked for from 5 √count below the middle: what lies still further out is less than e^−50 in all (Hoeffding 1963).
    """
    rank = max(0, count // 2 - 5 * math.isqrt(count))
    ways = below = math.comb(count, rank)  # of 2^count, in whole numbers: nothing is rounded
    while 2 * below * 20 <= 2**count:
        rank += 1
        ways = ways * (count - rank + 1) // rank
        below += ways
    return rank


NO_SPREAD = 1e-12  # of logarithms: what rounding leaves of the error of numbers that are all the same


@dataclass(frozen=True)
class Means:
    """Means of several rows of log ratios: ``n`` values each, mean, its standard error and the degrees of freedom of
    that, half width of the 95 % interval, p-value (of 0).
    """

    n: npt.NDArray[np.int64]
    mean: Floats
    error: Floats
    freedom: Floats
    half: Floats
    p: Floats


def t_means(values: Floats) -> Means:
    """Mean and Student's t interval of each row of ``values`` (rows × blocks); NaN is a block that has no value.

    Below INTERVAL_BLOCKS values there is a mean but no interval.
    """
    present = np.isfinite(values)
    n = present.sum(axis=1)
    mean = np.where(present, values, 0).sum(axis=1) / np.where(n > 0, n, np.nan)
    squares = (np.where(present, values - mean[:, None], 0) ** 2).sum(axis=1)
    freedom = np.where(n >= INTERVAL_BLOCKS, n - 1, np.nan)
    return t_interval(n, mean, np.sqrt(squares / freedom / np.maximum(n, 1)), freedom)


def t_interval(n: npt.NDArray[np.int64], mean: Floats, error: Floats, freedom: Floats) -> Means:
    """The interval mean ± t × error at 95 %, and the two-sided p-value; NaN where there is no ``error``.

    Nor is there a p-value where the error is none but of rounding: numbers that are all the same do not show how far
    chance would move them, and any mean of them would lie infinitely many errors from 0.
    """
    known = np.where(error < NO_SPREAD, np.nan, error)
    return Means(n, mean, error, freedom, student_t(freedom) * error, two_sided_p(freedom, mean / known))


def holm(p_values: npt.ArrayLike) -> Floats:
    """The p-values adjusted for their number: all of those below 0.05 are right together, but in 5 % of such tables.

    NaN is no comparison. Source: Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(len(p), np.nan)
    finite = np.flatnonzero(np.isfinite(p))
    ordered = finite[np.argsort(p[finite], kind="stable")]
    steps = p[ordered] * np.arange(len(ordered), 0, -1)
    adjusted[ordered] = np.minimum(1, np.maximum.accumulate(steps))
    return adjusted
