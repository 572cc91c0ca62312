"""Steps in a short series, such as the speeds of one share over months: whether there is one, where, and how large.

The candidates are the step, and the stretch in the middle, that differ most from the rest. A permutation test, whose
error rate needs no distribution, compares them with chance. Then each part is treated in the same way (circular binary
segmentation). Outliers count as three standard deviations away. Sources: Olshen, Venkatraman, Lucito and Wigler,
Circular binary segmentation, Biostatistics 5 (2004), 557-572; Antoch and Hušková, Permutation tests in change point
analysis, Stat. Probab. Lett. 53 (2001), 37-46; Westfall and Young, Resampling-based multiple testing, 1993 (the smaller
of two p-values); Huber, Robust estimation of a location parameter, Ann. Math. Stat. 35 (1964), 73-101; Schwarz,
Estimating the dimension of a model, Ann. Stat. 6 (1978), 461-464.
`benchmarks/history.py` simulates the error rates.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lab.stats.intervals import Floats

LEAST_LEVEL = 3  # points of a level: one or two outliers are none
LEAST_POINTS = 10  # that can show a step: with fewer, hardly any order is rare enough
PERMUTATIONS = 999
MOST_ALIKE = 0.9  # points that are more alike would count as less than one of nineteen
MOST_LEVELS = 4  # that are subtracted before points are compared with the point before
FARTHEST = 3.0  # standard deviations from the median that a point counts as, at most
_ROUNDING = 1e-9
_NORMAL = 2.2219  # scales it to the standard deviation of normal numbers
_SMALL = {2: 0.399, 3: 0.994, 4: 0.512, 5: 0.844, 6: 0.611, 7: 0.857, 8: 0.669, 9: 0.872}  # by the number of values


@dataclass(frozen=True)
class Split:
    """The best split of a series: ``at`` has the first point of each new level, ``p`` the p-value."""

    at: Sequence[int]
    p: float


def best_split(values: Floats, weights: Floats) -> Split:
    """The step in ``values``, or the stretch in their middle, that differs most from the rest, and its p-value.

    The statistic of both is the largest sum of weighted scores over its standard deviation in a random order. The rarer
    of both counts, against the rarer of both in random orders. Levels have LEAST_LEVEL points or more. Points that
    resemble the point before count as fewer: n as n (1 − ρ) / (1 + ρ). The p-value is NaN below LEAST_POINTS.
    """
    if len(values) < LEAST_POINTS:
        return Split([], np.nan)
    scores = _scores(values, weights)
    chance = np.random.default_rng(0)  # the same series always has the same p-value
    orders = chance.permuted(np.tile(scores, (PERMUTATIONS, 1)), axis=1)
    alike = likeness(scores)
    fewer = np.sqrt((1 - alike) / (1 + alike))
    p_values, p_by_chance, begins = [], [], []
    for starts in ([0], range(LEAST_LEVEL, len(scores) - 2 * LEAST_LEVEL + 1)):
        largest, place = max(
            (float(sums.max()), [start, int(stops[sums.argmax()])])
            for start, stops, sums in _stretches(scores[None, :], starts)
        )
        by_chance = np.max([sums.max(axis=1) for _, _, sums in _stretches(orders, starts)], axis=0)
        ordered = np.sort(by_chance)
        p_values.append(_share_from(ordered, np.array([largest * fewer - _ROUNDING]))[0])
        p_by_chance.append(_share_from(ordered, by_chance))
        begins.append(_needed(scores, sorted({0, *place})))
    rarest = int(np.argmin(p_values))
    as_rare = np.min(p_by_chance, axis=0) <= p_values[rarest] + _ROUNDING
    return Split(begins[rarest][1:], float(1 + as_rare.sum()) / (1 + PERMUTATIONS))


def _share_from(ordered: Floats, values: Floats) -> Floats:
    """The p-value of each value: the share of sorted random results that are as large, with the value itself."""
    return (1 + len(ordered) - np.searchsorted(ordered, values)) / (1 + len(ordered))


def cut(values: Floats, weights: Floats, significance: float) -> list[int]:
    """The first point of each level of a series that is known to have a step, 0 first.

    The first split is given, because a caller with several series adjusts its p-value. A part is tested at its share of
    ``significance``, so that all parts without a step together keep that error rate.
    """

    def cut_part(begin: int, end: int, is_given: bool) -> list[int]:
        split = best_split(values[begin:end], weights[begin:end])
        if not (is_given or split.p < significance * (end - begin) / len(values)):
            return []
        bounds = [begin, *(begin + at for at in split.at), end]
        inside = [cut_part(*part, False) for part in pairwise(bounds)]
        return sorted([*bounds[1:-1], *(at for cuts in inside for at in cuts)])

    return [0, *cut_part(0, len(values), True)]


def likeness(scores: Floats) -> float:
    """The correlation of neighbouring points without a line or a few levels, whichever fits best.

    Otherwise a drift or several steps would make all points look alike, and no change would be beyond chance.
    """
    x = np.arange(len(scores))
    fits = [(2, 2, scores - np.polynomial.Polynomial.fit(x, scores, 1)(x))]  # means, parameters, residuals
    fits += [(len(begins), 2 * len(begins) - 1, scores - by_level(scores, begins, np.mean)) for begins in _grow(scores)]
    means, _, residuals = min(fits, key=lambda fit: criterion(fit[2], fit[1]))
    return correlation(residuals, means)


def correlation(residuals: Floats, means: int) -> float:
    """The lag-1 autocorrelation of the residuals of so many fitted means, without its bias; never below 0.

    Each mean biases it by about −1 / n, the correlation itself by −4 ρ / n. Source: Marriott and Pope, Bias in the
    estimation of autocorrelations, Biometrika 41 (1954), 390-402.
    """
    n, squares = len(residuals), float((residuals**2).sum())
    if n <= 4 or squares < _ROUNDING:
        return 0.0
    alike = (float((residuals[1:] * residuals[:-1]).sum()) / squares * n + means) / (n - 4)
    return float(np.clip(alike, 0.0, MOST_ALIKE))


def criterion(residuals: Floats, count: int) -> float:
    """Schwarz' criterion of a fit with ``count`` parameters, for heavy-tailed noise (Laplace); less is better."""
    n = len(residuals)
    return float(2 * n * np.log(np.abs(residuals).sum() + _ROUNDING) + count * np.log(n))


def by_level(values: Floats, begins: Sequence[int], centre: Callable[[Floats], float]) -> Floats:
    """The mean or median of its level for each point."""
    return np.concatenate([np.full(len(part), centre(part)) for part in np.split(values, begins[1:])])


def _grow(scores: Floats) -> Iterator[list[int]]:
    """Two to MOST_LEVELS levels of the scores; each time the part that differs most inside is split."""
    begins = [0]
    while len(begins) < MOST_LEVELS:
        parts = [part for part in pairwise([*begins, len(scores)]) if part[1] - part[0] >= 2 * LEAST_LEVEL]
        if not parts:
            return
        splits = []
        for begin, end in parts:
            inner = scores[begin:end] - scores[begin:end].mean()
            _, stops, sums = next(_stretches(inner[None, :], [0]))
            splits.append((float(sums.max()), begin + int(stops[sums.argmax()])))
        begins = sorted([*begins, max(splits)[1]])
        yield begins


def _needed(scores: Floats, begins: list[int]) -> list[int]:
    """The levels, without one end of a middle stretch if that fits better."""
    shorter = [[begin for begin in begins if begin != left_out] for left_out in begins[1:]]
    choices = [begins, *(choice for choice in shorter if len(choice) > 1)]
    return min(choices, key=lambda choice: criterion(scores - by_level(scores, choice, np.mean), 2 * len(choice) - 1))


def _scores(values: Floats, weights: Floats) -> Floats:
    """The weighted distance of each value from the median, at most FARTHEST, shifted to a sum of 0."""
    unit = max(scatter(np.diff(values)) / np.sqrt(2), _ROUNDING)  # steps do not enlarge neighbours' differences
    distances = np.clip((values - np.median(values)) / unit, -FARTHEST, FARTHEST)
    scores: Floats = weights * (distances - np.average(distances, weights=weights))
    return scores


def _stretches(scores: Floats, starts: Sequence[int]) -> Iterator[tuple[int, npt.NDArray[np.intp], Floats]]:
    """For each start of a stretch: the start, its stops, and its sums (rows of scores × stops), each over its standard
    deviation in a random order. No stretch reaches the end, because the rest then begins at 0.
    """
    n = scores.shape[1]
    sums = np.concatenate([np.zeros((len(scores), 1)), scores.cumsum(axis=1)], axis=1)
    for start in starts:
        stops = np.arange(start + LEAST_LEVEL, n - LEAST_LEVEL + 1)
        lengths = stops - start
        yield start, stops, np.abs(sums[:, stops] - sums[:, [start]]) / np.sqrt(lengths * (n - lengths))


def scatter(values: Floats) -> float:
    """The standard deviation of normal numbers of which up to half may be outliers; NaN for fewer than two.

    It is Qn: about the lower quartile of the distances of all pairs, also unbiased for few numbers. Source:
    Rousseeuw and Croux, Alternatives to the median absolute deviation, J. Am. Stat. Assoc. 88 (1993), 1273-1283; Croux
    and Rousseeuw, Time-efficient algorithms for two highly robust estimators of scale, COMPSTAT 1992, 411-428.
    """
    n = len(values)
    if n < 2:
        return np.nan
    one, other = np.triu_indices(n, 1)
    half = n // 2 + 1
    rank = half * (half - 1) // 2
    distance = np.partition(np.abs(values[one] - values[other]), rank - 1)[rank - 1]
    unbiased = _SMALL.get(n) or (n / (n + 1.4) if n % 2 else n / (n + 3.8))
    return float(_NORMAL * unbiased * distance)
