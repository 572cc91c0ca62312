"""What the link itself reached in all runs of a sweep: of a dataset the rows of the link alone are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.dataset.engine import Engine, texts
from lab.stats.factors import Cells
from lab.stats.intervals import sort_by_group
from lab.stats.link_ceilings import LOWER_SHOT
from lab.stats.summary_table import STATUS, make_table, spread

# Of two shots in a block the frame that was added has the rate of the larger one as the ceiling of both
_ROWS = f"""
SELECT case_number, block_number, {texts("status")}, bytes_per_s / 1e6 AS speed,
       ceiling_bytes_per_s IS NOT NULL AS has_ceiling, coalesce(bytes_per_s < ceiling_bytes_per_s, false) AS is_lower
FROM (SELECT *, CASE WHEN elapsed_s > 0 THEN size_bytes::DOUBLE / elapsed_s END AS bytes_per_s FROM read_parquet(?))
WHERE list_contains(?, case_number)
"""


def link_ceilings(
    engine: Engine, parts: Iterable[Sequence[str]], links: npt.NDArray[np.intp], cells: Cells
) -> pd.DataFrame:
    """:func:`lab.stats.ceilings` of the trials in ``parts``, files of whole blocks each, as read_parquet takes them.

    ``links`` are the numbers of the link's own cases, and ``cells`` says the setting of each.
    """
    count = len(cells.codes)
    counts, lower = np.zeros((len(STATUS), count), dtype=np.int64), np.full(count, np.nan)
    had_second_shots, places, speeds = False, [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for source in parts:
        rows = _read(engine, source, links, cells)
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


def _read(engine: Engine, source: Sequence[str], links: npt.NDArray[np.intp], cells: Cells) -> pd.DataFrame:
    """The link's rows, each with the number of its cell."""
    columns: dict[str, Any] = engine.numbers(_ROWS, [source, links.tolist()])
    rows = pd.DataFrame({name: np.ma.getdata(column) for name, column in columns.items()})
    rows["speed"] = np.ma.filled(columns["speed"].astype(float), np.nan)
    return rows.assign(cell=cells.cell[np.searchsorted(links, rows["case_number"])])


def _lower_shots(rows: pd.DataFrame, count: int) -> npt.NDArray[np.float64]:
    """By cell, the least share of the higher shot of its block that another shot of it reached; NaN where none did."""
    shots = rows[(rows["status"] == "ok") & (rows["speed"] > 0)].groupby(["cell", "block_number"])["speed"]
    of_block = shots.agg(["min", "max", "size"])
    several = of_block[of_block["size"] > 1]
    least = (several["min"] / several["max"]).groupby("cell").min()
    return least.reindex(range(count)).to_numpy(float)
