"""The trials of stores by themselves in all runs of a sweep, some files at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lab.dataset.sweep_trials import SweepTrials
from lab.dataset.trial_rows import COLUMNS, frame_of
from lab.design.factors import owner_of
from lab.stats.store_numbers import OF_STORES
from lab.stats.summary_table import STATUS

OBSERVED = ("bonnie", "requests", "server.disk_read_bytes", "server.disk_written_bytes")  # of what dd, fio, … measured
_QUERY = f"SELECT {COLUMNS} FROM read_parquet(?) WHERE status = 'ok' AND list_contains(?, case_number)"


def store_frames(trials: SweepTrials) -> Iterator[pd.DataFrame]:
    """What :func:`lab.stats.store_numbers.measurements_of` takes: the ok trials of stores, of some files at a time.

    In the order in which tools are run within a block: all of these trials have the same position.
    """
    levels, is_ok = trials.levels, STATUS.index("ok")
    numbers = [
        number
        for number, statistics in trials.case_statistics.items()
        if levels[number]["protocol"] in OF_STORES and statistics.counts[is_ok]
    ]
    stores = {str(levels[number]["store"]) for number in numbers}
    other = [name for name in trials.encoded.frame if owner_of(str(name)) not in ("", *stores)]
    for files in trials.bunches() if numbers else ():
        rows = trials.engine.numbers(_QUERY, [trials.source(files), numbers])
        frame = frame_of(trials, rows, OBSERVED).drop(columns=other)
        in_order = np.lexsort((frame["tool"].astype(str), frame["direction"] == "read", frame["block"]))
        yield frame.iloc[in_order]
