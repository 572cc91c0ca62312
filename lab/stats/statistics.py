"""The frames behind every table and figure, for one run or for many runs at once."""

from functools import cached_property

import pandas as pd

from lab.stats.anova import Shares
from lab.stats.stages import waterfall
from lab.stats.store_numbers import store_effects, store_numbers


class Statistics:
    """Frames named after the functions of :mod:`lab.stats`, computed when first asked for by subclasses."""

    summary: pd.DataFrame
    file_rates: pd.DataFrame
    ceilings: pd.DataFrame
    effects: pd.DataFrame
    interactions: pd.DataFrame
    shares: Shares
    some: pd.DataFrame
    store_measurements: pd.DataFrame

    store_numbers = cached_property(lambda self: store_numbers(self.store_measurements))
    store_effects = cached_property(lambda self: store_effects(self.store_measurements))
    waterfall = cached_property(lambda self: waterfall(self.summary, self.ceilings, self.store_numbers, self.some))


class PooledStatistics(Statistics):
    """The frames of many runs; ``limits`` counts the runs in which each limit of a case was found."""

    limits: pd.DataFrame
    run_count: int
    unjudged: int  # runs of an older lab, which kept no limits
