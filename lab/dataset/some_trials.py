"""Some trials of a dataset as frames, with what hosts counted: a few of each case, and those of stores alone."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.dataset.compact import MOST_FILES
from lab.dataset.engine import BYTES_PER_S, SPEED, texts
from lab.dataset.register import group_files
from lab.dataset.sweep_trials import SweepTrials
from lab.design.factors import owner_of
from lab.results.export_table import kinds
from lab.stats.encoding import step_of
from lab.stats.store_numbers import OF_STORES
from lab.stats.summary_table import STATUS

KEYS = ("run_id", "trial_id")
COLUMNS = (
    f"case_number, block_number, position, {texts(*KEYS, 'status')}, size_bytes, elapsed_s, files, "
    f"{BYTES_PER_S} AS bytes_per_s"
)
_FRACTIONS = ("elapsed_s", "bytes_per_s")
_PLAIN = ("status", "size_bytes", "files")
_ROOT = "observed."
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
OF_TOOLS = ("bonnie", "requests", "server.disk_read_bytes", "server.disk_written_bytes")  # of what dd, fio, … measured
_STORE_TRIALS = f"SELECT {COLUMNS} FROM read_parquet(?) WHERE status = 'ok' AND list_contains(?, case_number)"


def frame_of(trials: SweepTrials, rows: Mapping[str, Any], parts: Sequence[str]) -> pd.DataFrame:
    """The rows that were read of COLUMNS, as a frame with the levels of their cases.

    ``observed`` has the numbers below these ``parts`` of it alone, such as ``requests`` or ``server.cores``, as objects
    that are nested as those of a trial. ``block`` is the number of the block over all runs.
    """
    case = np.searchsorted(list(trials.levels), np.ma.getdata(rows["case_number"]))
    frame = trials.encoded.frame.iloc[case].reset_index(drop=True)
    columns = {name: np.ma.getdata(rows[name]) for name in _PLAIN}
    columns |= {name: np.ma.filled(rows[name].astype(float), np.nan) for name in _FRACTIONS}
    observed = pd.Series(_observed(trials, rows, parts), dtype=object)
    return frame.assign(block=np.ma.getdata(rows["block_number"]), **columns, observed=observed)


def _observed(trials: SweepTrials, rows: Mapping[str, Any], parts: Sequence[str]) -> list[dict[str, Any]]:
    """What was counted of each row; empty of one of which nothing was."""
    found: list[dict[str, Any]] = [{} for _ in rows["block_number"]]
    if not found:
        return found
    block = np.ma.getdata(rows["block_number"])
    first, last = block.min(), block.max()
    holding = [one for one in trials.observed if one.first_block <= last and first < one.first_block + one.blocks]
    wanted = pd.DataFrame({name: pd.Series(np.ma.getdata(rows[name]), dtype=object) for name in KEYS})
    wanted = wanted.assign(place=np.arange(len(wanted)))
    for files in group_files(holding, sys.maxsize, MOST_FILES):
        table, source = "read_parquet(?, union_by_name = true)", [trials.source(files)]
        names = _numbers_below(parts, trials.engine.numbers(f"SELECT * FROM {table} LIMIT 0", source))
        columns = ", ".join(f'"{name}"' for name in ("place", *names))
        query = f"SELECT {columns} FROM {table} JOIN wanted USING ({', '.join(KEYS)})"
        for place, *values in trials.engine.rows(query, source, {"wanted": wanted}):
            found[place] = _nested(dict(zip(names, values, strict=True)))
    return found


def _numbers_below(parts: Sequence[str], columns: Iterable[str]) -> list[str]:
    """The columns of numbers that are these parts of what is observed, or below one."""
    numbers = [name for name in columns if kinds().get(name, str) is not str]
    return [name for name in numbers if f"{name}.".startswith(tuple(f"{_ROOT}{part}." for part in parts))]


def _nested(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers by their paths, without those that are none, as objects in one another."""
    nested: dict[str, Any] = {}
    for path, value in numbers.items():
        if value is not None:
            *above, last = path.removeprefix(_ROOT).split(".")
            node = nested
            for key in above:
                node = node.setdefault(key, {})
            node[last] = value
    return nested


def some_of_each_case(trials: SweepTrials) -> pd.DataFrame:
    """The same as :func:`lab.stats.encoding.some_of_each_case` of all runs, one after the other.

    Of ``observed`` the numbers that are OBSERVED, and of the other columns those of
    :data:`lab.dataset.some_trials.COLUMNS`. Some files at a time are in memory, and at most MOST_TRIALS rows a case.
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
        rows = trials.engine.numbers(_STORE_TRIALS, [trials.source(files), numbers])
        frame = frame_of(trials, rows, OF_TOOLS).drop(columns=other)
        in_order = np.lexsort((frame["tool"].astype(str), frame["direction"] == "read", frame["block"]))
        yield frame.iloc[in_order]
