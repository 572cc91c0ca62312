"""The numbers of a run, computed once for answer, tables and figures.

Nothing here draws because matplotlib takes longer to load than a table takes to make.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from lab import stats
from lab.results.json_object import RunJson
from lab.stats import bottleneck
from lab.stats.encoding import some_of_each_case
from lab.stats.statistics import Statistics
from lab.stats.store_numbers import measurements

T = TypeVar("T")


def _of_trials(compute: Callable[[stats.Encoded], T]) -> cached_property[T]:
    return cached_property(lambda run: compute(run.trials))


class Analysis(Statistics):
    """The results of the functions of lab.stats with these names, when first asked for; and run.json."""

    def __init__(self, trials: stats.Trials):
        self.trials = stats.encode(trials)
        self.described: RunJson = self.trials.frame.attrs.get("run", {})

    speeds = _of_trials(stats.grid)
    summary = _of_trials(stats.summary)
    ceilings = _of_trials(stats.ceilings)
    drift = _of_trials(stats.drift)
    some = _of_trials(some_of_each_case)
    store_measurements = _of_trials(measurements)
    file_rates = cached_property(lambda run: stats.file_rates(run.trials, run.some))
    shares = cached_property(lambda run: stats.shares(run.speeds))
    block_effects = cached_property(lambda run: list(stats.block_effects(run.speeds)))
    effects = cached_property(lambda run: stats.effect_table(run.block_effects))
    block_interactions = cached_property(lambda run: list(stats.block_interactions(run.speeds)))
    interactions = cached_property(lambda run: stats.interaction_table(run.block_interactions))
    verdicts = cached_property(lambda run: bottleneck.verdicts(run.trials, run.some))


Run = stats.Trials | Analysis


def analyse(run: Run) -> Analysis:
    """The analysis of a run: make it once, and pass it on instead of the trials."""
    return run if isinstance(run, Analysis) else Analysis(run)
