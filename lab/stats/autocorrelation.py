"""Blocks that resemble the one before: they count as fewer, and intervals that take them for many are too narrow.

With a correlation ρ of blocks next to one another (first-order autoregressive) the mean of n is as uncertain as that of
n (1 − ρ) / (1 + ρ) independent ones. Source: Bayley and Hammersley, The "effective" number of independent observations
in an autocorrelated time series, J. R. Stat. Soc. Suppl. 8 (1946), 184-197.
"""

from __future__ import annotations

import numpy as np

from lab.design.stopping import LEAST_BLOCKS
from lab.stats.factors import Codes
from lab.stats.intervals import Floats, Means, t_interval
from lab.stats.moderation import independent_rows
from lab.stats.pieces import row_pieces, take_rows

NORMAL_95 = 1.645  # one-sided: only blocks that are alike make intervals too narrow
MOST_ALIKE = 0.95  # blocks that are more alike than this would count as less than one of forty
LEAST_COUNT = 2.0  # that an interval may rest on, so that it has an end


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

    The mean of the rows' lag-1 autocorrelations r. Of n independent blocks it is about −1 / n, with a variance of
    1 / n by the number of independent rows; of others less than ρ by (1 + 4 ρ) / n. Source: Marriott and Pope, Bias in
    the estimation of autocorrelations, Biometrika 41 (1954), 390-402.
    """
    of_rows = np.concatenate([_of_each_row(piece) for piece in row_pieces(values)], axis=1)
    n = of_rows[1].mean()
    alike = float(of_rows[0].mean()) + 1 / n
    if alike * np.sqrt(n * independent_rows(values)) <= NORMAL_95:
        return 0.0
    return min(MOST_ALIKE, float(alike / (1 - 4 / n)))


def _of_each_row(values: Floats) -> Floats:
    """The lag-1 autocorrelation of each row, and how many values it has (2 × rows)."""
    deviations = values - np.nanmean(values, axis=1, keepdims=True)
    products = deviations[:, 1:] * deviations[:, :-1]  # NaN where either block has no value: counted as none
    alike = np.nansum(products, axis=1) / np.nansum(deviations**2, axis=1)
    return np.array([alike, np.isfinite(values).sum(axis=1)])
