"""What is computed of a run, once for all that show it: answer, tables, figures.

Nothing here draws: matplotlib takes longer to load than a table takes to make.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import pandas as pd

from lab import stats
from lab.stats import bottleneck
from lab.stats.some_trials import some_of_each_case
from lab.stats.store_effects import store_effects
from lab.stats.store_numbers import store_numbers
from lab.stats.waterfall import waterfall


class Computed(Protocol):
    """What is computed of a run, or of many runs at once: each as :class:`Analysis` has it."""

    @property
    def summary(self) -> pd.DataFrame: ...  # noqa: D102

    @property
    def file_rates(self) -> pd.DataFrame: ...  # noqa: D102

    @property
    def ceilings(self) -> pd.DataFrame: ...  # noqa: D102

    @property
    def store_numbers(self) -> pd.DataFrame: ...  # noqa: D102

    @property
    def store_effects(self) -> pd.DataFrame: ...  # noqa: D102

    @property
    def waterfall(self) -> pd.DataFrame: ...  # noqa: D102

    @property
    def effects(self) -> pd.DataFrame: ...  # noqa: D102

    @property
    def interactions(self) -> pd.DataFrame: ...  # noqa: D102

    @property
    def some(self) -> pd.DataFrame: ...  # noqa: D102

    @property
    def shares(self) -> stats.Shares: ...  # noqa: D102


class Analysis:
    """What is computed of a run, each part when first asked for."""

    def __init__(self, trials: stats.Trials):
        self.trials = stats.encode(trials)

    @cached_property
    def speeds(self) -> stats.Grid:
        """The transfers as a matrix."""
        return stats.grid(self.trials)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """See :func:`lab.stats.summary`."""
        return stats.summary(self.trials)

    @cached_property
    def file_rates(self) -> pd.DataFrame:
        """See :func:`lab.stats.file_rates`."""
        return stats.file_rates(self.trials, self.some)

    @cached_property
    def ceilings(self) -> pd.DataFrame:
        """See :func:`lab.stats.ceilings`."""
        return stats.ceilings(self.trials)

    @cached_property
    def store_numbers(self) -> pd.DataFrame:
        """See :func:`lab.stats.store_numbers`."""
        return store_numbers(self.trials)

    @cached_property
    def store_effects(self) -> pd.DataFrame:
        """See :func:`lab.stats.store_effects.store_effects`."""
        return store_effects(self.trials)

    @cached_property
    def waterfall(self) -> pd.DataFrame:
        """See :func:`lab.stats.waterfall.waterfall`."""
        return waterfall(self.summary, self.ceilings, self.store_numbers, self.some)

    @cached_property
    def block_effects(self) -> list[stats.Compared]:
        """See :func:`lab.stats.block_effects`."""
        return list(stats.block_effects(self.speeds))

    @cached_property
    def effects(self) -> pd.DataFrame:
        """See :func:`lab.stats.effects`."""
        return stats.effect_table(self.block_effects)

    @cached_property
    def block_interactions(self) -> list[stats.Compared]:
        """See :func:`lab.stats.block_interactions`."""
        return list(stats.block_interactions(self.speeds))

    @cached_property
    def interactions(self) -> pd.DataFrame:
        """See :func:`lab.stats.interactions`."""
        return stats.interaction_table(self.block_interactions)

    @cached_property
    def shares(self) -> stats.Shares:
        """See :func:`lab.stats.shares`."""
        return stats.shares(self.speeds)

    @cached_property
    def drift(self) -> stats.Drift:
        """See :func:`lab.stats.drift`."""
        return stats.drift(self.trials)

    @cached_property
    def some(self) -> pd.DataFrame:
        """See :func:`lab.stats.some_trials.some_of_each_case`."""
        return some_of_each_case(self.trials)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """See :func:`lab.stats.bottleneck.verdicts`."""
        return bottleneck.verdicts(self.trials, self.some)


Run = stats.Trials | Analysis


def analyse(run: Run) -> Analysis:
    """The analysis of a run: make it once, and pass it instead of the trials to whatever shows them."""
    return run if isinstance(run, Analysis) else Analysis(run)
