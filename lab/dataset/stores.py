"""The trials of stores by themselves in all runs of a sweep, some files at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from lab.dataset.sweep_trials import SweepTrials
from lab.dataset.trial_rows import COLUMNS, frame_of
from lab.design.factors import owner_of
from lab.stats.store_numbers import OF_STORES
from lab.stats.summary_table import STATUS

OBSERVED = ("bonnie", "requests", "server.disk_read_bytes", "server.disk_written_bytes")  # of what dd, fio, … measured
_QUERY = f"""
SELECT {COLUMNS} FROM read_parquet(?) WHERE status = 'ok' AND list_contains(?, case_number)
ORDER BY block_number, position
"""


def store_frames(trials: SweepTrials) -> Iterator[pd.DataFrame]:
    """What :func:`lab.stats.store_numbers.measurements_of` takes: the ok trials of stores, of some files at a time."""
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
        yield frame_of(trials, rows, OBSERVED).drop(columns=other)
