"""Steps in a short series, such as the speeds of one share over months: is there one, where, and how large.

The series is cut where two parts differ most, if that is more than chance would give: a permutation test, whose error
rate does not rest on a distribution. Each part is then looked at in the same way (binary segmentation). An odd point
counts no more than one three standard deviations away. Sources: Antoch and Hušková, Permutation tests in change point
analysis, Stat. Probab. Lett. 53 (2001), 37-46; Vostrikova, Detecting disorder in multidimensional random processes,
Soviet Math. Dokl. 24 (1981), 55-59; Huber, Robust estimation of a location parameter, Ann. Math. Stat. 35 (1964),
73-101. What it comes to is simulated by benchmarks/history.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lab.stats.intervals import Floats
from lab.stats.robust_scale import scatter

LEAST_LEVEL = 3  # points of a level: one or two odd ones are none
LEAST_POINTS = 8  # that can show a step: of 7, even the two rarest orders are 4 of 35
PERMUTATIONS = 1999
MOST_ALIKE = 0.9  # points that are more alike than this would count as less than one of nineteen
FARTHEST = 3.0  # standard deviations from the median that a point counts as, at most
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Split:
    """Where a series parts best: ``at`` is the number of points before, ``p`` how often chance parts as well."""

    at: int
    p: float


def best_split(values: Floats, weights: Floats) -> Split:
    """Where ``values`` part into two levels best, and the p-value of that.

    The statistic is the largest sum of the first k weighted scores over its standard deviation in a random order, with
    LEAST_LEVEL points or more on either side. Points that resemble the one before count as fewer: n as n (1 − ρ) /
    (1 + ρ), as in :mod:`lab.stats.autocorrelation`. Its p-value is NaN below LEAST_POINTS.
    """
    n = len(values)
    if n < LEAST_POINTS:
        return Split(0, np.nan)
    scores = _scores(values, weights)
    sums = np.abs(_scaled_sums(scores[None, :])[0])
    at = LEAST_LEVEL + int(sums.argmax())
    alike = correlation(np.r_[scores[:at] - scores[:at].mean(), scores[at:] - scores[at:].mean()])
    chance = np.random.default_rng(0)  # the same series always has the same p-value
    orders = chance.permuted(np.tile(scores, (PERMUTATIONS, 1)), axis=1)
    largest = np.abs(_scaled_sums(orders)).max(axis=1)
    as_large = largest >= sums.max() * np.sqrt((1 - alike) / (1 + alike)) - _ROUNDING
    return Split(at, float(1 + as_large.sum()) / (1 + PERMUTATIONS))


def cut(values: Floats, weights: Floats, significance: float) -> list[int]:
    """Where each level of a series that is known to have a step begins, 0 first.

    The first step is taken for granted: whoever tests several series at once adjusts its p-value. A part is tested at
    as much of ``significance`` as it has of the points, so that of parts without a step all together are cut no more
    often than that.
    """

    def cut_part(begin: int, end: int, is_known: bool) -> list[int]:
        split = best_split(values[begin:end], weights[begin:end])
        if not split.at or not (is_known or split.p < significance * (end - begin) / len(values)):
            return []
        middle = begin + split.at
        return [*cut_part(begin, middle, False), middle, *cut_part(middle, end, False)]

    return [0, *cut_part(0, len(values), True)]


def correlation(residuals: Floats) -> float:
    """How much points next to one another are alike, from what is left of two fitted levels; never below 0.

    The lag-1 autocorrelation, without its bias: two fitted means take some −2 / n, and what is alike 4 ρ / n. Source:
    Marriott and Pope, Bias in the estimation of autocorrelations, Biometrika 41 (1954), 390-402.
    """
    n, squares = len(residuals), float((residuals**2).sum())
    if n <= 4 or squares < _ROUNDING:
        return 0.0
    alike = (float((residuals[1:] * residuals[:-1]).sum()) / squares * n + 2) / (n - 4)
    return float(np.clip(alike, 0.0, MOST_ALIKE))


def is_a_drift(values: Floats, line: Floats, begins: list[int]) -> bool:
    """Whether a line fits better than levels that begin at ``begins``, by Schwarz' criterion with Laplace's noise.

    ``line`` has its height at each point. A level costs its height and its place. Source: Schwarz, Estimating the
    dimension of a model, Ann. Stat. 6 (1978), 461-464.
    """
    n = len(values)
    misfits = [np.abs(values - fit).sum() + _ROUNDING for fit in (line, medians_of(values, begins))]
    by_line, by_levels = (
        2 * n * np.log(misfit) + count * np.log(n)
        for misfit, count in zip(misfits, (2, 2 * len(begins) - 1), strict=True)
    )
    return bool(by_line < by_levels)


def medians_of(values: Floats, begins: list[int]) -> Floats:
    """For each point the median of its level."""
    parts = np.split(values, begins[1:])
    return np.concatenate([np.full(len(part), np.median(part)) for part in parts])


def _scores(values: Floats, weights: Floats) -> Floats:
    """How far each value lies from the median, FARTHEST at most, by its weight; less what makes their sum 0.

    The unit is the scatter of differences of neighbours: steps do not make it larger.
    """
    unit = max(scatter(np.diff(values)) / np.sqrt(2), _ROUNDING)
    distances = np.clip((values - np.median(values)) / unit, -FARTHEST, FARTHEST)
    scores: Floats = weights * (distances - np.average(distances, weights=weights))
    return scores


def _scaled_sums(scores: Floats) -> Floats:
    """Of each row of scores the sums of the first k, for each k that leaves two levels, over their spread by chance."""
    n = scores.shape[1]
    k = np.arange(LEAST_LEVEL, n - LEAST_LEVEL + 1)
    sums: Floats = scores.cumsum(axis=1)[:, k - 1] / np.sqrt(k * (n - k))
    return sums
