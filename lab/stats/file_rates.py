"""What a tree of many files comes to a file: how many a second, how long one takes, how often it waits for a reply."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lab.results import dataframe
from lab.stats.encoding import Encoded, Trials, encode
from lab.stats.intervals import Floats, median, sort_by_group, sorted_interval
from lab.stats.trial_numbers import STREAMED

ROUND_TRIPS = "tcp.data_segs_in"


def file_rates(trials: Trials) -> pd.DataFrame:
    """One row a cell of the transfers of trees (the levels of all factors), and none where one file was moved.

    Columns: files and n (ok trials); files a second: median and its 95 % interval (low, high); and the medians of
    milliseconds a file, MB/s and round trips a file. NaN where there are too few ok trials, or nothing was counted.
    """
    encoded = encode(trials)
    if not (encoded.values("files")[encoded.transfer] > 1).any():
        return pd.DataFrame()
    cells = encoded.cases
    columns = {name: [levels[code] for code in cells.code(name)] for name, levels in cells.levels.items()}
    table = pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})
    by_cell = {
        name: _sorted_values(encoded, encoded.values(name).astype(float))
        for name in ("files", "files_per_s", "ms_per_file", "MB_per_s")
    }
    table["files"] = _medians(by_cell["files"])
    table["n"] = [len(values) for values in by_cell["files"]]
    table["files_per_s"] = _medians(by_cell["files_per_s"])
    intervals = [sorted_interval(values) if len(values) else (np.nan, np.nan) for values in by_cell["files_per_s"]]
    table[["low_files_per_s", "high_files_per_s"]] = np.array(intervals).reshape(-1, 2)
    table["ms_per_file"] = _medians(by_cell["ms_per_file"])
    table["MB_per_s"] = _medians(by_cell["MB_per_s"])
    return table.assign(round_trips_per_file=_medians(_sorted_values(encoded, round_trips_per_file(encoded.frame))))


def round_trips_per_file(trials: pd.DataFrame) -> Floats:
    """Round trips a file of each trial: segments with data against the payload's direction; NaN where none is counted.

    Each request of a protocol, or each reply, is one or more. What SSH sends back tells nothing of its requests.
    """
    counts = dataframe.observed(trials, [ROUND_TRIPS]).reindex(columns=[ROUND_TRIPS])[ROUND_TRIPS]
    asks = trials["protocol"] != STREAMED
    a_file = pd.to_numeric(counts, errors="coerce") / trials["files"]
    return a_file.where(asks, np.nan).to_numpy(dtype=float)


def _sorted_values(trials: Encoded, values: Floats) -> list[Floats]:
    """The values of each cell that are ok and known, sorted."""
    rows = np.flatnonzero(trials.transfer)
    counted = trials.ok[rows] & np.isfinite(values[rows])
    return sort_by_group(trials.cases.cell[counted], values[rows][counted], len(trials.cases.codes))


def _medians(by_cell: list[Floats]) -> Floats:
    return np.array([median(values) if len(values) else np.nan for values in by_cell], dtype=float)
