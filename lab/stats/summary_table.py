"""Medians of every setting, of the link's ceilings, and where the numbers come from."""

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
from lab.stats.intervals import Floats, median, median_and_interval, sort_by_group, sorted_interval
from lab.stats.link_ceilings import LOWER_SHOT, SETTING, compare_ceilings
from lab.stats.trial_numbers import STREAMED

COUNTS = ("n", "n_void", "n_failed")
STATUS = ("ok", "void", "failed")  # of each of them
SPEEDS = ("median_MB_per_s", "low_MB_per_s", "high_MB_per_s", "min_MB_per_s", "max_MB_per_s")
ROUND_TRIPS = "tcp.data_segs_in"
QUANTITIES = ("files", "files_per_s", "ms_per_file", "MB_per_s")  # that are known of every trial
Spread = tuple[float, float, float]  # a median, and the ends of its interval


def summary(trials: Trials) -> pd.DataFrame:
    """One row a cell (the levels of all factors), without the link's own rows and without anchors.

    Columns: n (ok trials), n_void, n_failed, then MB/s (10^6): median, its 95 % interval (low, high), min, max; and
    the median share of the ceiling (1 is all of it). NaN where there are too few ok trials.
    """
    encoded = encode(trials)
    return _summarise(encoded, encoded.transfer, encoded.cases)


def ceilings(trials: Trials) -> pd.DataFrame:
    """What iperf3 measured on the link itself, by direction, mtu and tcp_space; columns as in :func:`summary`.

    Of two shots in a block the larger counts; ``lower_shot`` is the least share of it that the other one reached.
    """
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
    counts = [
        np.bincount(cells.cell[trials.has("status", name)[chosen]], minlength=len(cells.codes)) for name in STATUS
    ]
    rows = np.flatnonzero(chosen)
    speeds, shares = (_values_by_cell(trials, name, rows, cells) for name in ("MB_per_s", "share_of_ceiling"))
    return make_table(cells, counts, list(map(spread, speeds)), list(map(median, shares)))


def make_table(
    cells: Cells, counts: Sequence[Codes], spreads: Sequence[tuple[float, ...]], shares: Sequence[float]
) -> pd.DataFrame:
    """:func:`summary` of cells: for each of COUNTS those of the cells, and for each cell SPEEDS and the share."""
    columns = {name: [levels[code] for code in cells.code(name)] for name, levels in cells.levels.items()}
    table = pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})
    table = table.assign(**dict(zip(COUNTS, counts, strict=True)))
    table[list(SPEEDS)] = np.array(spreads).reshape(-1, len(SPEEDS))
    return table.assign(share_of_ceiling=np.array(shares, dtype=float))


def _values_by_cell(trials: Encoded, column: str, rows: npt.NDArray[np.intp], cells: Cells) -> list[Floats]:
    """The values of each cell that are ok and known, sorted."""
    values = trials.values(column)[rows]
    counted = trials.ok[rows] & np.isfinite(values)
    return sort_by_group(cells.cell[counted], values[counted], len(cells.codes))


def spread(ordered: Floats) -> tuple[float, ...]:
    """SPEEDS of sorted values."""
    if not len(ordered):
        return (np.nan,) * len(SPEEDS)
    return median(ordered), *sorted_interval(ordered), ordered[0], ordered[-1]


def provenance(trials: Trials) -> tuple[str, str]:
    """Where it was measured (may be empty), and the hosts, day, payload and number of trials.

    Both have to stand under every figure and every table; the first says when it was a local lab, and begins with
    :data:`lab.results.trial.EMULATED` when a host of it was an emulated Mac. The second says what the run's stores
    cannot tell.
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
    """One row a cell of the transfers of trees (the levels of all factors), and none where one file was moved.

    Columns: files and n (ok trials); files a second: median and its 95 % interval (low, high); and the medians of
    milliseconds a file, MB/s and round trips a file. NaN where there are too few ok trials, or nothing was counted.
    Round trips are those of ``some`` trials, which :func:`lab.stats.encoding.some_of_each_case` gives: where that
    was done already.
    """
    encoded = encode(trials)
    rows = np.flatnonzero(encoded.transfer)
    if not (encoded.values("files")[rows] > 1).any():
        return pd.DataFrame()
    by_cell: dict[str, list[Floats]] = {}
    for name in QUANTITIES:
        values = encoded.values(name)[rows].astype(float)
        known = encoded.ok[rows] & np.isfinite(values)
        by_cell[name] = sort_by_group(encoded.cases.cell[known], values[known], len(encoded.cases.codes))
    spreads = {name: list(map(median_and_interval, of_cells)) for name, of_cells in by_cell.items()}
    counts, some = list(map(len, by_cell["files"])), some_of_each_case(encoded) if some is None else some
    return rates_table(encoded.cases, counts, spreads, some)


def rates_table(
    cells: Cells, counts: Sequence[int], spreads: Mapping[str, Sequence[Spread]], some: pd.DataFrame
) -> pd.DataFrame:
    """The table of :func:`file_rates`, of what is known of each cell: its ok trials, and of QUANTITIES."""
    columns = {name: [levels[code] for code in cells.code(name)] for name, levels in cells.levels.items()}
    levels = pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})
    numbers = {name: np.array(spreads[name], dtype=float).reshape(-1, 3) for name in QUANTITIES}
    table = levels.assign(files=numbers["files"][:, 0], n=counts)
    table[["files_per_s", "low_files_per_s", "high_files_per_s"]] = numbers["files_per_s"]
    for name in ("ms_per_file", "MB_per_s"):
        table[name] = numbers[name][:, 0]
    trips = median_of_each_case(some, round_trips_per_file(some))
    keys = levels.itertuples(index=False, name=None)
    return table.assign(round_trips_per_file=np.array([trips.get(key, np.nan) for key in keys], dtype=float))


def round_trips_per_file(trials: pd.DataFrame) -> Floats:
    """Round trips a file of each trial: segments with data against the payload's direction; NaN where none is counted.

    Each request of a protocol, or each reply, is one or more. What SSH sends back tells nothing of its requests.
    """
    counts = dataframe.observed(trials, [ROUND_TRIPS]).reindex(columns=[ROUND_TRIPS])[ROUND_TRIPS]
    asks = trials["protocol"] != STREAMED
    a_file = pd.to_numeric(counts, errors="coerce") / trials["files"]
    return a_file.where(asks, np.nan).to_numpy(dtype=float)
