"""A few trials of each case, for what must read every one of them from the file again."""

from __future__ import annotations

import pandas as pd

from lab.base.untrusted import from_json
from lab.stats.encoding import Trials, measured

MOST_TRIALS = 30  # of a case, evenly over the run: more would say the same


def some_of_each_case(trials: Trials) -> pd.DataFrame:
    """The good transfers, of each case MOST_TRIALS at the most, evenly over the run; ``observed`` as objects."""
    good = measured(trials)
    cases = good.groupby("case_id", sort=False, observed=True)["block"]
    place, count = cases.cumcount(), cases.transform("size")
    step = -(-count // MOST_TRIALS)
    some = good[place % step == 0]
    return some.assign(observed=some["observed"].map(from_json))
