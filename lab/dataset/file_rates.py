"""What a tree comes to a file over all runs of a sweep: medians of all trials, and round trips of some of each case."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from lab.dataset.engine import SPEED
from lab.dataset.medians import order_cases
from lab.dataset.sweep_trials import SweepTrials
from lab.stats.file_rates import QUANTITIES, rates_table

# By the same operations in the same order as in lab.results.dataframe
_SQL = {
    "files": "(CASE WHEN status = 'ok' THEN files::DOUBLE END)",
    "files_per_s": "(CASE WHEN status = 'ok' AND elapsed_s > 0 THEN files::DOUBLE / elapsed_s END)",
    "ms_per_file": "(CASE WHEN status = 'ok' AND files > 0 THEN 1000 * elapsed_s / files::DOUBLE END)",
    "MB_per_s": SPEED,
}
_MOST_FILES = "SELECT max(files) FROM read_parquet(?) WHERE NOT anchor AND list_contains(?, case_number)"


def file_rates(trials: SweepTrials, some: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """See :func:`lab.stats.file_rates`; ``some`` gives a few trials of each case, where trees were moved at all."""
    [[most]] = trials.engine.rows(_MOST_FILES, [trials.source(trials.files), trials.cases])
    if not (most or 0) > 1:
        return pd.DataFrame()
    by_case = order_cases(trials.engine, trials.dataset, trials.files, _SQL)
    of_cells = [by_case[number].by_quantity for number in trials.cases]
    spreads = {name: [of_cell[name].median_and_interval for of_cell in of_cells] for name in QUANTITIES}
    return rates_table(trials.cells, [of_cell["files"].count for of_cell in of_cells], spreads, some())
