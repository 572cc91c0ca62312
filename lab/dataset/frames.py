"""Frames of all runs of a sweep that need a query of their own: ceilings, limits, and what a tree comes to a file."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.base.errors import BadInput
from lab.dataset.engine import LONGEST_TEXT, SPEED, Engine, escape_paths, texts
from lab.dataset.medians import order_cases
from lab.dataset.register import AGAIN, Levels
from lab.dataset.sweep_trials import SweepTrials
from lab.stats.intervals import sort_by_group
from lab.stats.limit import CERTAIN
from lab.stats.link_ceilings import LOWER_SHOT, SETTING
from lab.stats.summary_table import QUANTITIES, STATUS, make_table, rates_table, spread

# If a block has two shots, the frame that was added has the larger rate as the ceiling of both
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


def link_ceilings(trials: SweepTrials) -> pd.DataFrame:
    """:func:`lab.stats.ceilings` of all runs."""
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
    """By cell, the least share of the higher shot of its block that another shot of it reached; NaN where none did."""
    shots = rows[(rows["status"] == "ok") & (rows["speed"] > 0)].groupby(["cell", "block_number"])["speed"]
    of_block = shots.agg(["min", "max", "size"])
    several = of_block[of_block["size"] > 1]
    least = (several["min"] / several["max"]).groupby("cell").min()
    return least.reindex(range(count)).to_numpy(float)


def count_limits(engine: Engine, paths: Sequence[Path], cases: Mapping[int, Levels]) -> pd.DataFrame:
    """One row a case and limit: in how many runs it was found, in how many of these for certain, the median of what was
    left of it (0 to 1, NaN where unclear), and the evidence in the newest of them.

    ``cases`` are the levels of each case that moved a file, by its number, in the order of the rows; of one case the
    limit that was found most often comes first. Raises BadInput for a case that is not among them.
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
    levels = list(next(iter(cases.values()), ()))
    return pd.DataFrame(rows, columns=[*levels, *LIMITS]).astype({"headroom": "float64"})


def file_rates(trials: SweepTrials, some: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """See :func:`lab.stats.file_rates`; ``some`` gives a few trials of each case, where trees were moved at all."""
    [[most]] = trials.engine.rows(_MOST_FILES, [trials.source(trials.files), trials.cases])
    if not (most or 0) > 1:
        return pd.DataFrame()
    by_case = order_cases(trials.engine, trials.dataset, trials.files, _SQL)
    of_cells = [by_case[number].by_quantity for number in trials.cases]
    spreads = {name: [of_cell[name].median_and_interval for of_cell in of_cells] for name in QUANTITIES}
    return rates_table(trials.cells, [of_cell["files"].count for of_cell in of_cells], spreads, some())
