"""Changes in percent, and 95 % intervals: of medians without a distribution, of means by Student's t."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lab.design.stopping import INTERVAL_BLOCKS
from lab.stats.distributions import Floats as Floats
from lab.stats.distributions import student_t, two_sided_p
from lab.stats.two_way import row_pieces


def percent_change(baseline: Any, value: Any) -> Any:
    """The change of numbers or arrays in percent of their ``baseline``. ValueError unless every baseline is above 0."""
    if not np.all(np.greater(baseline, 0)):
        raise ValueError(f"a change from {baseline} has no percentage")
    return 100 * (value - baseline) / baseline


def log_percent(log_ratios: Floats) -> Floats:
    """Logarithms of ratios as changes in percent; infinite for an interval without end."""
    with np.errstate(over="ignore"):
        changes: Floats = percent_change(1.0, np.exp(log_ratios))
    return changes


def change_with_interval(log_ratios: Floats) -> tuple[float, float, float]:
    """A log ratio and the ends of its interval as changes in percent."""
    change, low, high = log_percent(log_ratios).tolist()
    return change, low, high


def sort_by_group(group: npt.NDArray[np.integer[Any]], values: Floats, count: int) -> list[Floats]:
    """The values of each of ``count`` groups, sorted; ``group`` has the number of each value's group."""
    in_order = np.argsort(group.astype(np.min_scalar_type(count)), kind="stable")  # small numbers are sorted faster
    ends = np.cumsum(np.bincount(group, minlength=count))
    return [np.sort(part) for part in np.split(values[in_order], ends)[:-1]]


def median(ordered: Floats) -> float:
    """The median of sorted values; NaN where there are none."""
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2 if len(ordered) else np.nan


def median_and_interval(values: Floats) -> tuple[float, float, float]:
    """The median of values in any order, and its interval as in :func:`median_interval`; NaN where too few."""
    places = sorted(places_of_median(len(values)))
    return median_and_interval_of(len(values), np.partition(values, places) if places else values)


def places_of_median(count: int) -> set[int]:
    """The places (from 0), among so many sorted values, that make a median and its interval."""
    rank = interval_rank(count)
    ends = {rank - 1, count - rank} if rank else set()
    return {(count - 1) // 2, count // 2} | ends if count else set()


def median_and_interval_of(count: int, values: Mapping[int, float] | Floats) -> tuple[float, float, float]:
    """The median of so many values and its interval, given those at :func:`places_of_median`; NaN where too few."""
    if not count:
        return np.nan, np.nan, np.nan
    rank = interval_rank(count)
    ends = (float(values[rank - 1]), float(values[count - rank])) if rank else (np.nan, np.nan)
    return float(values[(count - 1) // 2] + values[count // 2]) / 2, *ends


def median_interval(values: npt.ArrayLike) -> tuple[float, float]:
    """The exact 95 % interval of the median from order statistics; (NaN, NaN) for fewer than 6 values.

    With x(1) ≤ … ≤ x(n), the median lies outside [x(k), x(n+1−k)] with probability 2 P(Bin(n, ½) ≤ k − 1) or less,
    whatever the distribution; k is the largest for which that is at most 5 %. Source: David and Nagaraja, Order
    Statistics, 3rd ed., section 7.1. For the median of a pool of equally frequent cases: Hoeffding 1956.
    """
    return median_and_interval(np.asarray(values, dtype=float))[1:]


MANY = 4000  # with more values, ranks are found in floating point: whole numbers of so many bits take a second
CLOSE = 1e-8  # nearer to the limit, whole numbers decide; rounding errors are below 1e-12


@functools.lru_cache(maxsize=4096)
def interval_rank(count: int) -> int:
    """The k of :func:`median_interval` for ``count`` values; 0 when there is none."""
    return (count >= MANY and _rank_of_many(count)) or _rank_by_whole_numbers(count)


def _rank_by_whole_numbers(count: int) -> int:
    """Start at rank n/2 − 5√n; the tail beyond has probability below e^−50 (Hoeffding 1963)."""
    rank = max(0, count // 2 - 5 * math.isqrt(count))
    ways = below = math.comb(count, rank)  # of 2^count, in whole numbers: nothing is rounded
    while 2 * below * 20 <= 2**count:
        rank += 1
        ways = ways * (count - rank + 1) // rank
        below += ways
    return rank


def _rank_of_many(count: int) -> int:
    """The rank from the terms of the binomial distribution; 0 where one comes too CLOSE to the limit.

    The middle term is C(2m, m) / 4^m by Stirling's series (NIST Digital Library of Mathematical Functions, 5.11.1).
    """
    middle, half = count // 2, (count + 1) // 2
    central = math.exp(-1 / (8 * half) + 1 / (192 * half**3)) / math.sqrt(math.pi * half)
    places = np.arange(middle, middle - 6 * math.isqrt(count), -1, dtype=float)
    terms = central * np.cumprod(np.r_[1.0, places / (count - places + 1)])
    beyond = 40 * np.cumsum(terms[::-1]) - 1  # 2 P(Bin ≤ place) / 5 % − 1, for ascending places
    first = int(np.argmax(beyond > 0))
    if np.abs(beyond[first - 1 : first + 1]).min() < CLOSE:
        return 0
    return middle - (len(beyond) - 1 - first)


NO_SPREAD = 1e-12  # of logarithms: errors below come from rounding, because all numbers are the same


@dataclass(frozen=True)
class Means:
    """Means of rows of log ratios: number of values, mean, its error and freedom, half width at 95 %, p-value of 0."""

    n: npt.NDArray[np.int64]
    mean: Floats
    error: Floats
    freedom: Floats
    half: Floats
    p: Floats

    @property
    def ends(self) -> Floats:
        """Mean, low end and high end of each row (3 × rows)."""
        return np.stack([self.mean, self.mean - self.half, self.mean + self.half])


def t_means(values: Floats) -> Means:
    """Mean and, from INTERVAL_BLOCKS values on, Student's t interval of each row (rows × blocks, NaN where missing)."""
    n, mean, squares = (np.concatenate(parts) for parts in zip(*map(_moments, row_pieces(values)), strict=True))
    freedom = np.where(n >= INTERVAL_BLOCKS, n - 1, np.nan)
    return t_interval(n, mean, np.sqrt(squares / freedom / np.maximum(n, 1)), freedom)


def _moments(values: Floats) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Number, mean and sum of squares about it, of each row."""
    present = np.isfinite(values)
    n = present.sum(axis=1)
    mean = np.where(present, values, 0).sum(axis=1) / np.where(n > 0, n, np.nan)
    return n, mean, (np.where(present, values - mean[:, None], 0) ** 2).sum(axis=1)


def t_interval(n: npt.NDArray[np.int64], mean: Floats, error: Floats, freedom: Floats) -> Means:
    """The interval mean ± t × error at 95 % and two-sided p-value; NaN without ``error``; no p below NO_SPREAD."""
    known = np.where(error < NO_SPREAD, np.nan, error)
    return Means(n, mean, error, freedom, student_t(freedom) * error, two_sided_p(freedom, mean / known))


def holm(p_values: npt.ArrayLike) -> Floats:
    """The p-values adjusted for their number: in 95 % of such tables all effects with p below 0.05 are real.

    NaN is no comparison. Source: Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(len(p), np.nan)
    finite = np.flatnonzero(np.isfinite(p))
    ordered = finite[np.argsort(p[finite], kind="stable")]
    steps = p[ordered] * np.arange(len(ordered), 0, -1)
    adjusted[ordered] = np.minimum(1, np.maximum.accumulate(steps))
    return adjusted
