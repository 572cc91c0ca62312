"""What a tree of many files comes to a file: how many a second, how long one takes, how often it waits for a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lab.results import dataframe
from lab.stats.encoding import Trials, encode
from lab.stats.factors import Cells
from lab.stats.intervals import Floats, median_and_interval, sort_by_group
from lab.stats.some_trials import median_of_each_case, some_of_each_case
from lab.stats.trial_numbers import STREAMED

ROUND_TRIPS = "tcp.data_segs_in"
QUANTITIES = ("files", "files_per_s", "ms_per_file", "MB_per_s")  # that are known of every trial
Spread = tuple[float, float, float]  # a median, and the ends of its interval


def file_rates(trials: Trials, some: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row a cell of the transfers of trees (the levels of all factors), and none where one file was moved.

    Columns: files and n (ok trials); files a second: median and its 95 % interval (low, high); and the medians of
    milliseconds a file, MB/s and round trips a file. NaN where there are too few ok trials, or nothing was counted.
    Round trips are those of ``some`` trials, which :func:`lab.stats.some_trials.some_of_each_case` gives: where that
    was done already.
    """
    encoded = encode(trials)
    rows = np.flatnonzero(encoded.transfer)
    if not (encoded.values("files")[rows] > 1).any():
        return pd.DataFrame()
    by_cell: dict[str, list[Floats]] = {}
    for name in QUANTITIES:
        values = encoded.values(name)[rows].astype(float)
        known = encoded.ok[rows] & np.isfinite(values)
        by_cell[name] = sort_by_group(encoded.cases.cell[known], values[known], len(encoded.cases.codes))
    spreads = {name: list(map(median_and_interval, of_cells)) for name, of_cells in by_cell.items()}
    counts, some = list(map(len, by_cell["files"])), some_of_each_case(encoded) if some is None else some
    return rates_table(encoded.cases, counts, spreads, some)


def rates_table(
    cells: Cells, counts: Sequence[int], spreads: Mapping[str, Sequence[Spread]], some: pd.DataFrame
) -> pd.DataFrame:
    """The table of :func:`file_rates`, of what is known of each cell: its ok trials, and of QUANTITIES."""
    columns = {name: [levels[code] for code in cells.code(name)] for name, levels in cells.levels.items()}
    levels = pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})
    numbers = {name: np.array(spreads[name], dtype=float).reshape(-1, 3) for name in QUANTITIES}
    table = levels.assign(files=numbers["files"][:, 0], n=counts)
    table[["files_per_s", "low_files_per_s", "high_files_per_s"]] = numbers["files_per_s"]
    for name in ("ms_per_file", "MB_per_s"):
        table[name] = numbers[name][:, 0]
    trips = median_of_each_case(some, round_trips_per_file(some))
    keys = levels.itertuples(index=False, name=None)
    return table.assign(round_trips_per_file=np.array([trips.get(key, np.nan) for key in keys], dtype=float))


def round_trips_per_file(trials: pd.DataFrame) -> Floats:
    """Round trips a file of each trial: segments with data against the payload's direction; NaN where none is counted.

    Each request of a protocol, or each reply, is one or more. What SSH sends back tells nothing of its requests.
    """
    counts = dataframe.observed(trials, [ROUND_TRIPS]).reindex(columns=[ROUND_TRIPS])[ROUND_TRIPS]
    asks = trials["protocol"] != STREAMED
    a_file = pd.to_numeric(counts, errors="coerce") / trials["files"]
    return a_file.where(asks, np.nan).to_numpy(dtype=float)
