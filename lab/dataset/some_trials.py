"""A few trials of each case over all runs of a sweep, with what hosts counted of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.dataset.engine import SPEED
from lab.dataset.sweep_trials import SweepTrials
from lab.dataset.trial_rows import COLUMNS, frame_of
from lab.stats.some_trials import step_of

# What is shown of them: clients, requests, frames, capacity, what was sent before the flush, and round trips a file
OBSERVED = (
    "together", "requests", "frames", "store_capacity_bytes", "store_read_bytes", "store_written_bytes", "flush_s",
    "tcp.data_segs_in",
)  # fmt: skip
_GOOD = f"NOT anchor AND {SPEED} > 0"
_COUNT = f"SELECT case_number, count(*) AS trials FROM read_parquet(?) WHERE {_GOOD} GROUP BY case_number"
_CHOOSE = f"""
SELECT * EXCLUDE (place, step) FROM (
  SELECT {COLUMNS}, step,
         before + row_number() OVER (PARTITION BY case_number ORDER BY block_number, position, trial_id) - 1 AS place
  FROM read_parquet(?) JOIN steps USING (case_number) WHERE {_GOOD}
) WHERE place % step = 0
"""


def some_of_each_case(trials: SweepTrials) -> pd.DataFrame:
    """The same as :func:`lab.stats.some_trials.some_of_each_case` of all runs, one after the other.

    Of ``observed`` the numbers that are OBSERVED, and of the other columns those of
    :data:`lab.dataset.trial_rows.COLUMNS`. Some files at a time are in memory, and at most MOST_TRIALS rows a case.
    """
    bunches = [[trials.source(files)] for files in trials.bunches()]
    counts = np.array([_counts(trials, source) for source in bunches])
    step, before = step_of(counts.sum(axis=0)), np.cumsum(counts, axis=0) - counts
    cases = pd.DataFrame({"case_number": np.array(trials.cases, np.int32), "step": step})
    read = [
        trials.engine.numbers(_CHOOSE, source, {"steps": cases.assign(before=earlier)[cases["step"] > 0]})
        for source, earlier in zip(bunches, before, strict=True)
    ]
    rows: dict[str, Any] = {
        name: np.ma.concatenate([of_bunch[name] for of_bunch in read])  # type: ignore[no-untyped-call]
        for name in read[0]
    }
    in_order = np.lexsort((rows["position"], rows["block_number"]))
    return frame_of(trials, {name: values[in_order] for name, values in rows.items()}, OBSERVED)


def _counts(trials: SweepTrials, source: list[list[str]]) -> npt.NDArray[np.int64]:
    """How many good trials each case of a transfer has in some files."""
    counted = trials.engine.numbers(_COUNT, source)
    of_case = dict(zip(counted["case_number"].tolist(), counted["trials"].tolist(), strict=True))
    return np.array([of_case.get(number, 0) for number in trials.cases], dtype=np.int64)
