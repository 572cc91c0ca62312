"""Medians of every case and of the link's ceilings, rates of small files, and the provenance of a run."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.base.untrusted import one_line
from lab.results import dataframe
from lab.results.one_sided import is_one_sided, share_of
from lab.results.trial import emulated, has_second_shots
from lab.stats.encoding import Encoded, Trials, encode, median_of_each_case, some_of_each_case
from lab.stats.factors import Cells, Codes
from lab.stats.intervals import Floats, median, median_and_interval, median_and_interval_of, sort_by_group
from lab.stats.link_ceilings import LOWER_SHOT, SETTING, compare_ceilings
from lab.stats.trial_numbers import STREAMED

COUNTS = ("n", "n_void", "n_failed")
STATUS = ("ok", "void", "failed")  # counted by COUNTS
SPEEDS = ("median_MB_per_s", "low_MB_per_s", "high_MB_per_s", "min_MB_per_s", "max_MB_per_s")
ROUND_TRIPS = "tcp.data_segs_in"
QUANTITIES = ("files", "files_per_s", "ms_per_file", "MB_per_s")  # of every trial


def summary(trials: Trials) -> pd.DataFrame:
    """One row a cell (the levels of all factors), without the link's own rows and without anchors.

    Columns: n (ok trials), n_void, n_failed; in MB/s (10^6) the median, its 95 % interval (low, high), min, max; and
    the median share of the ceiling (0 to 1). NaN where there are too few ok trials.
    """
    encoded = encode(trials)
    return _summarise(encoded, encoded.transfer, encoded.cases)


def ceilings(trials: Trials) -> pd.DataFrame:
    """Results of iperf3 by SETTING, the higher of two shots in a block; ``lower_shot`` is the other's least share."""
    encoded = encode(trials)
    cells = encoded.cells(SETTING, encoded.ceiling)
    table = _summarise(encoded, encoded.ceiling, cells).drop(columns="share_of_ceiling")
    if has_second_shots(encoded.frame.attrs.get("run", {})):
        known = compare_ceilings(encoded.frame)
        settings = table[list(SETTING)].itertuples(index=False, name=None)
        table[LOWER_SHOT] = [known.get(setting, {}).get(LOWER_SHOT, np.nan) for setting in settings]
    return table


def _summarise(trials: Encoded, chosen: npt.NDArray[np.bool_], cells: Cells) -> pd.DataFrame:
    """One row a cell of the chosen rows."""
    rows, count = np.flatnonzero(chosen), len(cells.codes)
    counts = [np.bincount(cells.cell[trials.has("status", name)[chosen]], minlength=count) for name in STATUS]
    speeds, shares = (_values_by_cell(trials, name, rows, cells) for name in ("MB_per_s", "share_of_ceiling"))
    return make_table(cells, counts, list(map(spread, speeds)), list(map(median, shares)))


def make_table(
    cells: Cells, counts: Sequence[Codes], spreads: Sequence[tuple[float, ...]], shares: Sequence[float]
) -> pd.DataFrame:
    """The table of :func:`summary`: each of COUNTS by cell; for each cell its SPEEDS and its share of the ceiling."""
    table = cells.frame().assign(**dict(zip(COUNTS, counts, strict=True)))
    table[list(SPEEDS)] = np.array(spreads).reshape(-1, len(SPEEDS))
    return table.assign(share_of_ceiling=np.array(shares, dtype=float))


def _values_by_cell(trials: Encoded, column: str, rows: npt.NDArray[np.intp], cells: Cells) -> list[Floats]:
    """The finite values of ok trials by cell, sorted."""
    values = trials.values(column)[rows].astype(float)
    counted = trials.ok[rows] & np.isfinite(values)
    return sort_by_group(cells.cell[counted], values[counted], len(cells.codes))


def spread(ordered: Floats) -> tuple[float, ...]:
    """SPEEDS of sorted values."""
    ends = (ordered[0], ordered[-1]) if len(ordered) else (np.nan, np.nan)
    return *median_and_interval_of(len(ordered), ordered), *ends


def provenance(trials: Trials) -> tuple[str, str]:
    """Where a run was measured (may be empty); and its hosts, day, payload, number of trials and caveats of stores.

    Both stand under every figure and table. The first names a local lab, and begins with
    :data:`lab.results.trial.EMULATED` if a host was an emulated Mac.
    """
    encoded = encode(trials)
    run = encoded.frame.attrs.get("run", {})
    where = run.get("title") or ""
    if run.get("instance") is not None and "local lab" not in where.lower():
        where = ", ".join(filter(None, ["local lab", where]))
    where = ", ".join(filter(None, [emulated(run), where]))
    hosts = run.get("hosts", {})
    named = [str(hosts[side].get("hostname", side)) for side in ("client", "server") if hosts.get(side)]
    share = share_of(run)
    if is_one_sided(run) and share.server:
        named.append(f"{share.server} ({share.protocol}: {share.share})")
    names = " → ".join(named)
    caveats = map(run.get("caveats", {}).get, encoded.number_values("store")[1])
    facts = [names, run.get("started_at", "")[:10], *encoded.counts, *dict.fromkeys(caveats)]
    return one_line(where), one_line(" · ".join(filter(None, facts)))  # notebooks print them


def file_rates(trials: Trials, some: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row a cell of transfers (the levels of all factors); empty if no trial moved several files.

    Columns: files and n (ok trials); files a second: median and its 95 % interval (low, high); and the medians of
    milliseconds a file, MB/s and round trips a file. NaN where there are too few ok trials, or nothing was counted.
    ``some``: the result of :func:`lab.stats.encoding.some_of_each_case` if it is there already, for the round trips.
    """
    encoded = encode(trials)
    rows = np.flatnonzero(encoded.transfer)
    if not (encoded.values("files")[rows] > 1).any():
        return pd.DataFrame()
    by_cell = {name: _values_by_cell(encoded, name, rows, encoded.cases) for name in QUANTITIES}
    spreads = {name: list(map(median_and_interval, values)) for name, values in by_cell.items()}
    some = some_of_each_case(encoded) if some is None else some
    return rates_table(encoded.cases, list(map(len, by_cell["files"])), spreads, some)


def rates_table(
    cells: Cells, counts: Sequence[int], spreads: Mapping[str, Sequence[tuple[float, ...]]], some: pd.DataFrame
) -> pd.DataFrame:
    """The table of :func:`file_rates`: ``counts`` of ok trials by cell, and medians with intervals of QUANTITIES."""
    levels = cells.frame()
    numbers = {name: np.array(spreads[name], dtype=float).reshape(-1, 3) for name in QUANTITIES}
    table = levels.assign(files=numbers["files"][:, 0], n=counts)
    table[["files_per_s", "low_files_per_s", "high_files_per_s"]] = numbers["files_per_s"]
    for name in ("ms_per_file", "MB_per_s"):
        table[name] = numbers[name][:, 0]
    trips = median_of_each_case(some, round_trips_per_file(some))
    keys = levels.itertuples(index=False, name=None)
    return table.assign(round_trips_per_file=np.array([trips.get(key, np.nan) for key in keys], dtype=float))


def round_trips_per_file(trials: pd.DataFrame) -> Floats:
    """Round trips a file of each trial: segments with data against the payload's direction; NaN for SSH or unknown."""
    a_file = dataframe.observed_numbers(trials, {ROUND_TRIPS: "trips"})["trips"] / trials["files"]
    return a_file.where(trials["protocol"] != STREAMED, np.nan).to_numpy(dtype=float)
