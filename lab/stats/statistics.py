"""The frames that every table and figure starts from, of one run or of many runs at once."""

from functools import cached_property

import pandas as pd

from lab.stats.anova import Shares
from lab.stats.stages import waterfall
from lab.stats.store_numbers import store_effects_of, store_numbers_of


class Statistics:
    """Each frame is computed when first asked for. A subclass computes those that depend on where its trials are.

    Their names are those of the functions of :mod:`lab.stats`; ``some`` is a few trials of each case, and
    ``store_measurements`` what :func:`lab.stats.store_numbers.measurements` returns.
    """

    summary: pd.DataFrame
    file_rates: pd.DataFrame
    ceilings: pd.DataFrame
    effects: pd.DataFrame
    interactions: pd.DataFrame
    shares: Shares
    some: pd.DataFrame
    store_measurements: pd.DataFrame

    store_numbers = cached_property(lambda self: store_numbers_of(self.store_measurements))
    store_effects = cached_property(lambda self: store_effects_of(self.store_measurements))
    waterfall = cached_property(lambda self: waterfall(self.summary, self.ceilings, self.store_numbers, self.some))


class PooledStatistics(Statistics):
    """The same of many runs: ``limits`` says in how many of them each limit of a case was found."""

    limits: pd.DataFrame
    run_count: int
    unjudged: int  # runs that were added by a lab that kept no limits
