"""One effect over several pairs of hosts that count as a sample of pairs: the second of two stages.

The first stage is an estimate and its standard error of each pair. The second one takes each as the effect of its pair,
which scatters around the effect over all pairs with a standard deviation tau of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lab.stats.distributions import student_t
from lab.stats.intervals import NO_SPREAD, Floats, Means, t_interval
from lab.stats.moderation import ENOUGH_BLOCKS, LEAST_ROWS, fit_prior, shrink

LEAST_PAIRS = 3  # for an interval: two differ by one number, which says next to nothing of how far a third would lie


@dataclass(frozen=True)
class Pooled:
    """Effects over pairs, one a row, as logarithms.

    ``means`` has the number of pairs that count, their weighted mean, its standard error, degrees of freedom, half
    width and p-value (of 0); no interval below LEAST_PAIRS. ``tau`` is the standard deviation between pairs, ``q``
    Cochran's, ``i2`` the share of q that is more than chance inside pairs makes of it (0 to 1; NaN of one pair), and
    ``predicted`` the half width of the interval in which a further pair would lie.
    """

    means: Means
    tau: Floats
    q: Floats
    i2: Floats
    predicted: Floats


def pool(effects: Floats, errors: Floats) -> Pooled:
    """The effects of each row (rows × pairs, with standard errors; NaN where a pair has none) over its pairs.

    The variance between pairs is that of DerSimonian and Laird (Meta-analysis in clinical trials, Control. Clin. Trials
    7 (1986), 177-188). The interval is that of Hartung and Knapp (A refined method for the meta-analysis of controlled
    clinical trials with binary outcome, Stat. Med. 20 (2001), 3875-3889) and of Sidik and Jonkman (A simple confidence
    interval for meta-analysis, Stat. Med. 21 (2002), 3153-3159): Student's t of n − 1 degrees of freedom with the
    weighted scatter of the pairs themselves. It is never narrower than what the standard errors alone would give
    (Röver, Knapp and Friede, BMC Med. Res. Methodol. 15 (2015), 99). The prediction interval is that of Higgins,
    Thompson and Spiegelhalter (J. R. Stat. Soc. A 172 (2009), 137-159), with n − 2 degrees of freedom. I² is that of
    Higgins and Thompson (Stat. Med. 21 (2002), 1539-1558). Pairs without a standard error do not count.
    """
    counted = np.isfinite(effects) & (errors >= NO_SPREAD)
    effects, squares = np.where(counted, effects, 0.0), np.where(counted, errors, 1.0) ** 2
    n = counted.sum(axis=1)
    freedom = np.where(n > 1, n - 1, np.nan)
    weights = np.where(counted, 1 / squares, 0.0)
    q = _scatter(effects, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau2 = np.maximum(0, (q - freedom) / (weights.sum(axis=1) - (weights**2).sum(axis=1) / weights.sum(axis=1)))
        i2 = np.where(q > 0, np.maximum(0, 1 - freedom / q), 0 * freedom)
    weights = np.where(counted, 1 / (squares + np.nan_to_num(tau2)[:, None]), 0.0)
    scale = np.maximum(1, _scatter(effects, weights) / freedom)
    error = np.sqrt(scale / np.where(n > 0, weights.sum(axis=1), np.nan))
    means = t_interval(n, _mean(effects, weights), error, np.where(n >= LEAST_PAIRS, n - 1, np.nan))
    further = student_t(np.where(n >= LEAST_PAIRS, n - 2, np.nan)) * np.sqrt(tau2 + error**2)
    return Pooled(means, np.sqrt(tau2), np.where(n > 1, q, np.nan), i2, further)


def moderate_errors(errors: Floats, blocks: npt.NDArray[np.integer[Any]]) -> Floats:
    """The standard errors of each row (rows × pairs), of means of so many ``blocks``, with what the other pairs say of
    the noise: where blocks are few.

    The weights of :func:`pool` take them for known, and three blocks leave two degrees of freedom: a pair whose blocks
    happen to agree would outweigh all others. So pairs of fewer than ENOUGH_BLOCKS borrow from all of their row, as
    rows of a run do (:mod:`lab.stats.moderation`); it takes as many of them as there.
    """
    moderated = errors.copy()
    known = errors >= NO_SPREAD
    for row in np.flatnonzero((known.sum(axis=1) >= LEAST_ROWS) & (known & (blocks < ENOUGH_BLOCKS)).any(axis=1)):
        lends = np.flatnonzero(known[row])
        variances, freedom = errors[row, lends] ** 2 * blocks[row, lends], blocks[row, lends] - 1.0
        shrunk = np.sqrt(shrink(variances, freedom, fit_prior(variances, freedom)) / blocks[row, lends])
        moderated[row, lends] = np.where(blocks[row, lends] < ENOUGH_BLOCKS, shrunk, errors[row, lends])
    return moderated


def _mean(effects: Floats, weights: Floats) -> Floats:
    """The weighted mean of each row; NaN where nothing has a weight."""
    total = weights.sum(axis=1)
    mean: Floats = (weights * effects).sum(axis=1) / np.where(total > 0, total, np.nan)
    return mean


def _scatter(effects: Floats, weights: Floats) -> npt.NDArray[np.float64]:
    """The weighted sum of squares around the weighted mean, of each row."""
    scatter: Floats = (weights * (effects - np.nan_to_num(_mean(effects, weights))[:, None]) ** 2).sum(axis=1)
    return scatter
