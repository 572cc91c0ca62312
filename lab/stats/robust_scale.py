"""How far numbers scatter, whatever a few odd ones do."""

from __future__ import annotations

import numpy as np

from lab.stats.intervals import Floats

_NORMAL = 2.2219  # makes it the standard deviation of normal numbers
_SMALL = {2: 0.399, 3: 0.994, 4: 0.512, 5: 0.844, 6: 0.611, 7: 0.857, 8: 0.669, 9: 0.872}  # by how many there are


def scatter(values: Floats) -> float:
    """The standard deviation of numbers that are normal but for up to half of them; NaN of fewer than two.

    It is Qn: about the lower quartile of the distances of all pairs, made unbiased for few numbers too. Source:
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
