"""Some trials of a dataset as a frame, each with what hosts counted of it, as what is computed of a run takes them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lab.dataset.compact import MOST_FILES
from lab.dataset.engine import BYTES_PER_S, texts
from lab.dataset.register import group_files
from lab.dataset.sweep_trials import SweepTrials
from lab.results.export_table import kinds

KEYS = ("run_id", "trial_id")
COLUMNS = (
    f"case_number, block_number, position, {texts(*KEYS, 'status')}, size_bytes, elapsed_s, files, "
    f"{BYTES_PER_S} AS bytes_per_s"
)
_FRACTIONS = ("elapsed_s", "bytes_per_s")
_PLAIN = ("status", "size_bytes", "files")
_ROOT = "observed."


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
