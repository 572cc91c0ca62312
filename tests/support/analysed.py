"""The analysis of synthetic trials that no run folder has."""

from collections.abc import Sequence
from typing import Any

from lab.report.analysis import Analysis
from lab.results import dataframe
from lab.results.run_folder import Trial
from support.synthetic_runs import RUN


def analysed(trials: Sequence[Trial], **run: Any) -> Analysis:
    """The analysis of these trials; ``run`` changes run.json."""
    return Analysis(dataframe.frame(trials, RUN | run))
