"""A few trials of each case, for what must read every one of them from the file again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lab.base.untrusted import from_json
from lab.stats.encoding import Trials, measured
from lab.stats.factors import Column, Level, factors_of
from lab.stats.intervals import Floats

MOST_TRIALS = 30  # of a case, evenly over the run: more would say the same


def some_of_each_case(trials: Trials) -> pd.DataFrame:
    """The good transfers, of each case MOST_TRIALS at the most, evenly over the run; ``observed`` as objects."""
    good = measured(trials)
    cases = good.groupby("case_id", sort=False, observed=True)["block"]
    step: Column = step_of(cases.transform("size"))
    some = good[cases.cumcount() % step == 0]
    return some.assign(observed=some["observed"].map(from_json))


def step_of(count: Any) -> Any:
    """Of so many good trials of a case, a number or an array of them, every how many-th is taken, from the first on."""
    return -(-count // MOST_TRIALS)


def median_of_each_case(some: pd.DataFrame, values: Column | Floats) -> dict[tuple[Level, ...], float]:
    """The medians of the finite ones of a value of each of these trials, by the levels of their cases."""
    names = list(factors_of(some.columns))
    known = some[names].assign(value=values)[np.isfinite(values)]
    medians = known.groupby(names, sort=False, observed=True)["value"].median()
    return dict(zip(medians.index, medians.astype(float), strict=True))
