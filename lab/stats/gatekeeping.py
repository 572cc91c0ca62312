"""Many comparisons of one table: the overall row of each comparison first, the rows below it only after it.

The procedure is the inheritance procedure of Goeman and Finos (Stat. Appl. Genet. Mol. Biol. 11 (2012), article 11) for
a tree of two levels. Of K comparisons each has α / K. Where the overall row is rejected with it, the rows below inherit
it, and are tested by Holm; where these are all rejected too, what is left goes to the comparisons that are not done.
It keeps the family-wise error below α whichever hypotheses are true and however the tests depend on one another: at any
time the levels of all true hypotheses that are still open add up to α at most, and rejecting more never lowers the
level of what remains (the sequential rejection principle: Goeman and Solari, Ann. Stat. 38 (2010), 3782-3810).
"""

from __future__ import annotations

import numpy as np

from lab.stats.factors import Codes
from lab.stats.intervals import Floats, holm


def adjust_by_gate(p: Floats, comparison: Codes) -> Floats:
    """The p-values adjusted for their number; ``comparison`` is the number of each row's, its overall row first.

    NaN is no test. Where the overall row is one, all rows below it are none.
    """
    adjusted = np.full(len(p), np.nan)
    if not len(p):
        return adjusted
    begins = np.flatnonzero(np.r_[True, np.diff(comparison) != 0])
    tested = [rows for rows in np.split(np.arange(len(p)), begins[1:]) if np.isfinite(p[rows[0]])]
    alone = [_within(p[rows]) for rows in tested]
    done = np.array([np.nanmax(values) for values in alone])
    order = np.argsort(done, kind="stable")
    count = len(tested)
    # the level at which so many comparisons are done, none first: Holm's, for a comparison as a whole
    levels = np.r_[0.0, np.maximum.accumulate(done[order] * np.arange(count, 0, -1))]
    for place, number in enumerate(order):
        before = np.arange(place + 1)
        shares = alone[number][:, None] * (count - before)
        adjusted[tested[number]] = np.maximum(levels[before], shares).min(axis=1)
    bounded: Floats = np.minimum(adjusted, 1)
    return bounded


def _within(p: Floats) -> Floats:
    """Adjusted within one comparison: rows below its overall row by Holm, and never before that."""
    values: Floats = np.r_[p[0], np.maximum(p[0], holm(p[1:]))]
    return values
