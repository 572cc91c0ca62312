"""Intervals from few blocks: the rows of a factor lend one another what each alone says of its noise.

Three blocks leave a row two degrees of freedom, and Student's t is 4.3. The rows of one factor (protocols, tools,
directions) have noise of a like size, and that is a prior for each: empirical Bayes, the moderated t of limma. Source:
Smyth, Linear models and empirical Bayes methods for assessing differential expression in microarray experiments,
Stat. Appl. Genet. Mol. Biol. 3 (2004), article 3, section 6.
"""

import math
from dataclasses import dataclass

import numpy as np

from lab.design.stopping import LEAST_BLOCKS
from lab.stats.distributions import digamma, tetragamma, trigamma
from lab.stats.factors import Codes
from lab.stats.intervals import Floats, Means, t_interval
from lab.stats.two_way import column_pieces, row_pieces, take_rows

ENOUGH_BLOCKS = 8  # from which on a row's own spread is known well enough: Student's t is 2.4, and falls slowly
LEAST_VARIANCE = 1e-5  # of the median: the logarithm of what is nearly 0 would outweigh all others (as in limma)
MOST_STEPS = 50  # each doubles the digits that are right: six or so are needed
LEAST_ROWS = 3  # that a prior is made of, as in limma's squeezeVar: two variances say nothing of their spread
NORMAL_95 = 1.645  # one-sided: only blocks that are alike make intervals too narrow
MOST_ALIKE = 0.95  # blocks that are more alike than this would count as less than one of forty
LEAST_COUNT = 2.0  # that an interval may rest on, so that it has an end


@dataclass(frozen=True)
class Prior:
    """What a factor's rows say of a row's variance: as if ``freedom`` more degrees of freedom had shown ``variance``.

    Infinite where the rows differ no more than chance makes equal variances differ.
    """

    variance: float
    freedom: float


def moderate(values: Floats, means: Means, groups: Codes) -> Means:
    """The means of :func:`lab.stats.intervals.t_means` of ``values`` (rows × blocks) with moderated errors.

    ``groups`` has a number for each row, alike in rows that lend to one another; −1 in those that neither lend nor
    borrow. Rows of ENOUGH_BLOCKS or more, and rows without an error of their own, stay as they are.
    """
    error, freedom = means.error.copy(), means.freedom.copy()
    lends = np.isfinite(means.p) & (groups >= 0)
    for group in np.unique(groups[lends]):
        rows = np.flatnonzero(lends & (groups == group))
        borrows = rows[means.n[rows] < ENOUGH_BLOCKS]
        if len(rows) < LEAST_ROWS or not len(borrows):
            continue
        variances = means.error[rows] ** 2 * means.n[rows]
        prior = fit_prior(variances, means.freedom[rows])
        most = means.freedom[rows].mean() * independent_rows(take_rows(values, rows))
        of_row = means.freedom[borrows]
        error[borrows] = np.sqrt(shrink(means.error[borrows] ** 2 * means.n[borrows], of_row, prior) / means.n[borrows])
        freedom[borrows] = np.maximum(of_row, np.minimum(of_row + prior.freedom, most))
    return t_interval(means.n, means.mean, error, freedom)


def fit_prior(variances: Floats, freedom: Floats) -> Prior:
    """The scaled F distribution that the variances of several rows, each of so much freedom, come from.

    By the mean and the variance of their logarithms, as limma's fitFDist does (Smyth 2004, section 6.2), but for one
    thing: a few rows leave their spread uncertain, and the prior too strong as often as too weak. So its strength is
    that of a spread one standard error larger, where limma, which has thousands of rows, takes the estimate itself. In
    `benchmarks/intervals.py` that makes the half-width 1.06 times as large, and covers 94.3 in place of 93.0 %.
    """
    offset = np.maximum(variances, LEAST_VARIANCE * np.median(variances))
    logs = np.log(offset) - digamma(freedom / 2) + np.log(freedom / 2)
    by_chance = float(trigamma(freedom / 2).mean())
    spread = float(logs.var(ddof=1)) - by_chance
    if spread > 0:
        half = inverse_trigamma(spread)
        variance = math.exp(float(logs.mean()) + float(digamma(half)) - math.log(half))
    else:
        variance = float(np.average(variances, weights=freedom))
    cautious = spread + by_chance * math.sqrt(2 / (len(logs) - 1))  # the standard error of a variance of normal ones
    return Prior(variance, 2 * inverse_trigamma(cautious) if cautious > 0 else math.inf)


def inverse_trigamma(value: float) -> float:
    """The x > 0 whose trigamma is ``value`` > 0.

    By Newton's method on 1 / trigamma, which is convex and nearly linear: from the start below, each step comes nearer
    from the same side (Smyth 2004, appendix).
    """
    x = 0.5 + 1 / value
    for _ in range(MOST_STEPS):
        reached = float(trigamma(x))
        step = reached * (1 - reached / value) / float(tetragamma(x))
        x += step
        if abs(step) <= 1e-14 * x:
            break
    return x


def shrink(variances: Floats, freedom: Floats, prior: Prior) -> Floats:
    """The variances of rows, each with what the prior adds to it."""
    if math.isinf(prior.freedom):
        return np.full_like(variances, prior.variance)
    pooled: Floats = (prior.freedom * prior.variance + freedom * variances) / (prior.freedom + freedom)
    return pooled


def independent_rows(values: Floats) -> float:
    """As how many independent rows those of ``values`` (rows × blocks) count when variances are pooled: 1 to all.

    What disturbs a whole plot disturbs all its rows alike, and then their variances are one estimate and not many. The
    sum of squares of R rows has the degrees of freedom of R / (1 + (R − 1) ρ²) independent ones, with the mean squared
    correlation ρ² of two rows (Satterthwaite, An approximate distribution of estimates of variance components, 1946).
    That of samples with d degrees of freedom, r², is 1 / d by chance alone: ρ² = (r² − 1 / d) / (1 − 1 / d).
    """
    if len(values) == 1:
        return 1.0
    mean, length, n = np.concatenate([_of_each_row(piece) for piece in row_pieces(values)], axis=1)[:, :, None]
    rows, by_chance = len(values), 1 / (n.max() - 1)
    if rows > values.shape[1]:  # the smaller matrix: the same sum of squares
        units = np.nan_to_num((values - mean) / length)
        products = units.T @ units
    else:
        products = np.zeros((rows, rows))
        for piece in column_pieces(values):
            units = np.nan_to_num((piece - mean) / length)
            products += units @ units.T
    alike = ((products**2).sum() - rows) / (rows * (rows - 1))
    return float(rows / (1 + (rows - 1) * max(0.0, (alike - by_chance) / (1 - by_chance))))


def _of_each_row(values: Floats) -> Floats:
    """Mean of each row, the root of its sum of squares about that, and how many values it has (3 × rows)."""
    mean = np.nanmean(values, axis=1)
    length = np.sqrt(np.nansum((values - mean[:, None]) ** 2, axis=1))
    return np.array([mean, length, np.isfinite(values).sum(axis=1)])


def widen(values: Floats, means: Means, groups: Codes) -> Means:
    """The means of ``values`` (rows × blocks, in order) with intervals for as many blocks as theirs are as good as.

    ``groups`` has a number for each row, alike in rows that are looked at together: a few dozen blocks of one row show
    little of what ten rows show. Only rows of LEAST_BLOCKS or more are looked at, which is when a run may stop at a
    precision, and they stay as they are where their blocks are as good as independent.
    """
    counts = means.n.astype(float)
    for group in np.unique(groups):
        rows = np.flatnonzero((groups == group) & np.isfinite(means.p) & (means.n >= LEAST_BLOCKS))
        if len(rows) and (alike := correlation(take_rows(values, rows))):
            counts[rows] = np.maximum(LEAST_COUNT, counts[rows] * (1 - alike) / (1 + alike))
    fewer = counts < means.n
    error = np.where(fewer, means.error * np.sqrt(means.n / np.where(fewer, counts, 1)), means.error)
    return t_interval(means.n, means.mean, error, np.where(fewer, counts - 1, means.freedom))


def correlation(values: Floats) -> float:
    """How much blocks next to one another are alike in ``values`` (rows × blocks); 0 unless beyond chance (5 %).

    The mean of the rows' lag-1 autocorrelations r. With n independent blocks it is about −1 / n, with a variance of
    1 / n by the number of independent rows; of others less than ρ by (1 + 4 ρ) / n. Source: Marriott and Pope, Bias in
    the estimation of autocorrelations, Biometrika 41 (1954), 390-402.
    """
    of_rows = np.concatenate([_sum_of_each_row(piece) for piece in row_pieces(values)], axis=1)
    n = of_rows[1].mean()
    alike = float(of_rows[0].mean()) + 1 / n
    if alike * np.sqrt(n * independent_rows(values)) <= NORMAL_95:
        return 0.0
    return min(MOST_ALIKE, float(alike / (1 - 4 / n)))


def _sum_of_each_row(values: Floats) -> Floats:
    """The lag-1 autocorrelation of each row, and how many values it has (2 × rows)."""
    deviations = values - np.nanmean(values, axis=1, keepdims=True)
    products = deviations[:, 1:] * deviations[:, :-1]  # NaN where either block has no value: counted as none
    alike = np.nansum(products, axis=1) / np.nansum(deviations**2, axis=1)
    return np.array([alike, np.isfinite(values).sum(axis=1)])
