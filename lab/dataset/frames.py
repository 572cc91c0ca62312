"""Frames of all runs of a sweep that need a query of their own: ceilings, limits, rates of files, and some trials."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.base.errors import BadInput
from lab.dataset.compact import MOST_FILES
from lab.dataset.engine import BYTES_PER_S, LONGEST_TEXT, SPEED, Engine, escape_paths, texts
from lab.dataset.medians import order_cases
from lab.dataset.register import AGAIN, Levels, group_files
from lab.dataset.sweep_trials import SweepTrials
from lab.design.factors import owner_of
from lab.results.export_table import kinds
from lab.stats.encoding import step_of
from lab.stats.intervals import sort_by_group
from lab.stats.limit import CERTAIN
from lab.stats.link_ceilings import LOWER_SHOT, SETTING
from lab.stats.store_numbers import OF_STORES
from lab.stats.summary_table import QUANTITIES, STATUS, make_table, rates_table, spread

# If a block has two shots, both have the larger rate as their ceiling
_ROWS = f"""
SELECT case_number, block_number, {texts("status")}, bytes_per_s / 1e6 AS speed,
       ceiling_bytes_per_s IS NOT NULL AS has_ceiling, coalesce(bytes_per_s < ceiling_bytes_per_s, false) AS is_lower
FROM (SELECT *, CASE WHEN elapsed_s > 0 THEN size_bytes::DOUBLE / elapsed_s END AS bytes_per_s FROM read_parquet(?))
WHERE list_contains(?, case_number)
"""
LIMITS = ("limited_by", "runs", "certain", "headroom", "evidence")
_LIMITS_FOUND = f"""
SELECT case_number, limited_by, count(*), count(*) FILTER (grade = '{CERTAIN}'), median(headroom),
       arg_max(left(evidence, {LONGEST_TEXT}), block_number)
FROM (SELECT * EXCLUDE (limited_by), {texts("limited_by")} FROM read_parquet(?)) GROUP BY ALL
"""
# By the same operations in the same order as in lab.results.dataframe
_SQL = {
    "files": "(CASE WHEN status = 'ok' THEN files::DOUBLE END)",
    "files_per_s": "(CASE WHEN status = 'ok' AND elapsed_s > 0 THEN files::DOUBLE / elapsed_s END)",
    "ms_per_file": "(CASE WHEN status = 'ok' AND files > 0 THEN 1000 * elapsed_s / files::DOUBLE END)",
    "MB_per_s": SPEED,
}
_MOST_FILES = "SELECT max(files) FROM read_parquet(?) WHERE NOT anchor AND list_contains(?, case_number)"
KEYS = ("run_id", "trial_id")
COLUMNS = (
    f"case_number, block_number, position, {texts(*KEYS, 'status')}, size_bytes, elapsed_s, files, "
    f"{BYTES_PER_S} AS bytes_per_s"
)
_FRACTIONS = ("elapsed_s", "bytes_per_s")
_PLAIN = ("status", "size_bytes", "files")
_ROOT = "observed."
# The parts that tables show: clients, requests, frames, capacity, flushes, and round trips a file
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
OF_TOOLS = ("bonnie", "requests", "server.disk_read_bytes", "server.disk_written_bytes")  # parts by dd, fio, …
_STORE_TRIALS = f"SELECT {COLUMNS} FROM read_parquet(?) WHERE status = 'ok' AND list_contains(?, case_number)"


def link_ceilings(trials: SweepTrials) -> pd.DataFrame:
    """:func:`lab.stats.ceilings` for all runs."""
    encoded = trials.encoded
    is_link = encoded.has("protocol", "link")
    links, cells = np.array(list(trials.levels))[is_link], encoded.cells(SETTING, is_link)
    count = len(cells.codes)
    counts, lower = np.zeros((len(STATUS), count), dtype=np.int64), np.full(count, np.nan)
    had_second_shots, places, speeds = False, [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for files in trials.bunches():
        columns = trials.engine.numbers(_ROWS, [trials.source(files), links.tolist()])
        rows = pd.DataFrame({name: np.ma.getdata(column) for name, column in columns.items()})
        rows["speed"] = np.ma.filled(columns["speed"].astype(float), np.nan)
        rows["cell"] = cells.cell[np.searchsorted(links, rows["case_number"])]
        had_second_shots |= bool(rows["has_ceiling"].any())
        lower = np.fmin(lower, _lower_shots(rows, count))
        ceilings = rows[~rows["is_lower"]]
        counts += [np.bincount(ceilings["cell"][ceilings["status"] == name], minlength=count) for name in STATUS]
        counted = ceilings[(ceilings["status"] == "ok") & np.isfinite(ceilings["speed"])]
        places.append(counted["cell"].to_numpy())
        speeds.append(counted["speed"].to_numpy())
    ordered = sort_by_group(np.concatenate(places), np.concatenate(speeds), count)
    table = make_table(cells, list(counts), list(map(spread, ordered)), [np.nan] * count)
    table = table.drop(columns="share_of_ceiling")
    return table.assign(**{LOWER_SHOT: lower}) if had_second_shots else table


def _lower_shots(rows: pd.DataFrame, count: int) -> npt.NDArray[np.float64]:
    """By cell, the least share of a block's higher shot that its other shot reached; NaN without a second shot."""
    shots = rows[(rows["status"] == "ok") & (rows["speed"] > 0)].groupby(["cell", "block_number"])["speed"]
    of_block = shots.agg(["min", "max", "size"])
    several = of_block[of_block["size"] > 1]
    return (several["min"] / several["max"]).groupby("cell").min().reindex(range(count)).to_numpy(float)


def count_limits(engine: Engine, paths: Sequence[Path], cases: Mapping[int, Levels]) -> pd.DataFrame:
    """One row a case and limit: the number of runs that have it, and how many of them for certain. Then the median
    headroom (0 to 1, NaN if unclear), and the evidence in the newest of these runs.

    ``cases`` has the levels of each case that moved a file, by its number, in the order of the rows. The most frequent
    limit of a case comes first. Raises BadInput for an unknown case.
    """
    answer = engine.rows(_LIMITS_FOUND, [escape_paths(paths)]) if paths else []
    places = {number: place for place, number in enumerate(cases)}
    for number, limited_by, *_, evidence in answer:
        if number not in places:
            raise BadInput(f"{paths[0].parent}: limits of case {number}, of which no run has a trial", AGAIN)
        if limited_by is None or evidence is None:
            raise BadInput(f"{paths[0].parent}: a limit of case {number} without its name or evidence", AGAIN)
    answer.sort(key=lambda row: (places[row[0]], -row[2], -row[3], row[1]))
    rows = [{**cases[number], **dict(zip(LIMITS, limit, strict=True))} for number, *limit in answer]
    return pd.DataFrame(rows, columns=[*next(iter(cases.values()), ()), *LIMITS]).astype({"headroom": "float64"})


def file_rates(trials: SweepTrials, some: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """:func:`lab.stats.file_rates` for all runs; ``some`` gives some trials of each case, and is called if needed."""
    [[most]] = trials.engine.rows(_MOST_FILES, [trials.source(trials.files), trials.cases])
    if not (most or 0) > 1:
        return pd.DataFrame()
    by_case = order_cases(trials.engine, trials.dataset, trials.files, _SQL)
    cells = [by_case[number].by_quantity for number in trials.cases]
    spreads = {name: [cell[name].median_and_interval for cell in cells] for name in QUANTITIES}
    return rates_table(trials.encoded.cases, [cell["files"].count for cell in cells], spreads, some())


def frame_of(trials: SweepTrials, rows: Mapping[str, Any], parts: Sequence[str]) -> pd.DataFrame:
    """Read rows of COLUMNS as a frame with the levels of cases; ``observed`` has only numbers below these ``parts``."""
    case = np.searchsorted(list(trials.levels), np.ma.getdata(rows["case_number"]))
    frame = trials.encoded.frame.iloc[case].reset_index(drop=True)
    columns = {name: np.ma.getdata(rows[name]) for name in _PLAIN}
    columns |= {name: np.ma.filled(rows[name].astype(float), np.nan) for name in _FRACTIONS}
    observed = pd.Series(_observed(trials, rows, parts), dtype=object)
    return frame.assign(block=np.ma.getdata(rows["block_number"]), **columns, observed=observed)


def _observed(trials: SweepTrials, rows: Mapping[str, Any], parts: Sequence[str]) -> list[dict[str, Any]]:
    """The observed numbers of each row; may be empty."""
    observed: list[dict[str, Any]] = [{} for _ in rows["block_number"]]
    if not observed:
        return observed
    block = np.ma.getdata(rows["block_number"])
    first, last = block.min(), block.max()
    holding = [file for file in trials.observed if file.first_block <= last and first < file.first_block + file.blocks]
    wanted = pd.DataFrame({name: pd.Series(np.ma.getdata(rows[name]), dtype=object) for name in KEYS})
    wanted = wanted.assign(place=np.arange(len(wanted)))
    for files in group_files(holding, sys.maxsize, MOST_FILES):
        table, source = "read_parquet(?, union_by_name = true)", [trials.source(files)]
        paths = tuple(f"{_ROOT}{part}." for part in parts)
        columns = trials.engine.numbers(f"SELECT * FROM {table} LIMIT 0", source)
        names = [name for name in columns if kinds().get(name, str) is not str and f"{name}.".startswith(paths)]
        quoted = ", ".join(f'"{name}"' for name in ("place", *names))
        query = f"SELECT {quoted} FROM {table} JOIN wanted USING ({', '.join(KEYS)})"
        for place, *values in trials.engine.rows(query, source, {"wanted": wanted}):
            observed[place] = _nested(dict(zip(names, values, strict=True)))
    return observed


def _nested(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers by their paths as nested objects, without missing ones."""
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
    """:func:`lab.stats.encoding.some_of_each_case` for all runs, with COLUMNS and the OBSERVED parts."""
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
    """The number of good trials of each case in some files."""
    counted = trials.engine.numbers(_COUNT, source)
    of_case = dict(zip(counted["case_number"].tolist(), counted["trials"].tolist(), strict=True))
    return np.array([of_case.get(number, 0) for number in trials.cases], dtype=np.int64)


def store_frames(trials: SweepTrials) -> Iterator[pd.DataFrame]:
    """The ok trials of stores, some files at a time, in the order of tools within a block: they share one position."""
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
        yield frame.iloc[np.lexsort((frame["tool"].astype(str), frame["direction"] == "read", frame["block"]))]
