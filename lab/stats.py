"""Summaries and effects of trials: medians, exact intervals without a distribution, ratios paired within blocks.

Also the words that name a level, a comparison, and where the numbers come from, the same in figures and tables.
Every function takes the frame of :func:`lab.results.load`. Only trials with status ``ok`` are ever averaged; void and
failed ones are counted beside them. Where there are too few trials for an interval it is NaN, never a guess.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

CELL = ("protocol", "tool", "direction", "mtu", "tcp_space", "store")
POOLED = ("protocol", "tool", "direction")
FACTORS = (*CELL, "workload")
COUNTS = ("n", "n_void", "n_failed")
SPEEDS = ("median_MB_per_s", "low_MB_per_s", "high_MB_per_s", "min_MB_per_s", "max_MB_per_s")
EFFECT = ("factor", "baseline", "level", "n_pairs", "median_change_pct", "low_pct", "high_pct", "geometric_change_pct")


def percent_change(baseline: float, value: float) -> float:
    """How much ``value`` differs from ``baseline``, in percent of the baseline: 100 × (value / baseline − 1).

    There is one formula, one place and one order of arguments. ValueError unless the baseline is above zero.
    """
    if not baseline > 0:
        raise ValueError(f"a change from {baseline} has no percentage")
    return 100 * (value - baseline) / baseline


def median_interval(values: npt.ArrayLike) -> tuple[float, float]:
    """The exact 95 % interval of the median from order statistics; (NaN, NaN) for fewer than 6 values.

    With x(1) ≤ … ≤ x(n), the median lies outside [x(k), x(n+1−k)] with probability 2 P(Bin(n, ½) ≤ k − 1) or less,
    whatever the distribution; k is the largest for which that is at most 5 %. Values pooled from equally frequent
    cases keep at least that coverage for the median of the pool (Hoeffding 1956). Source: David and Nagaraja, Order
    Statistics, 3rd ed., section 7.1; the same interval inverts the sign test (Conover, Practical Nonparametric
    Statistics, section 3.4).
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    rank = interval_rank(len(ordered))
    return (float(ordered[rank - 1]), float(ordered[-rank])) if rank else (np.nan, np.nan)


@functools.lru_cache
def interval_rank(count: int) -> int:
    """The k of :func:`median_interval` for ``count`` values; 0 when there is none.

    In exact integers, out of 2^count. For more than 100 values the sum begins 5 √count below the middle: what lies
    still further out is less than e^−50 in all (Hoeffding 1963).
    """
    rank, everything = max(0, count // 2 - 5 * math.isqrt(count)), 2**count
    term = tail = math.comb(count, rank)
    while 2 * tail * 20 <= everything:
        term = term * (count - rank) // (rank + 1)
        rank += 1
        tail += term
    return rank


def summary(trials: pd.DataFrame) -> pd.DataFrame:
    """One row a cell (protocol, tool, direction, mtu, tcp_space, store), without the link's own rows.

    Columns: n (ok trials), n_void, n_failed, then MB/s (10^6): median, its 95 % interval (low, high), min, max; and
    the median share of the ceiling (1 is all of it). NaN where there are too few ok trials.
    """
    return _summarised(transfers(trials), CELL)


def ceilings(trials: pd.DataFrame) -> pd.DataFrame:
    """What iperf3 measured on the link itself, by direction, mtu and tcp_space; columns as in :func:`summary`."""
    link = trials[trials["protocol"] == "link"]
    return _summarised(link, ("direction", "mtu", "tcp_space")).drop(columns="share_of_ceiling")


def transfers(trials: pd.DataFrame) -> pd.DataFrame:
    """The trials that moved files: all but the link's own rows."""
    return trials[trials["protocol"] != "link"]


def measured(trials: pd.DataFrame) -> pd.DataFrame:
    """The transfers that count: status ok, with a speed."""
    return trials[(trials["protocol"] != "link") & (trials["status"] == "ok") & (trials["MB_per_s"] > 0)]


def levels(trials: pd.DataFrame, factor: str) -> list[Any]:
    """The levels of a factor that occur, in reading order: numbers up after ``default``, write before read."""
    return _in_order(trials, [factor])[factor].drop_duplicates().tolist()


def contrasts(trials: pd.DataFrame) -> list[tuple[str, Any, Any]]:
    """What can be compared: (factor, baseline, level) of each other MTU and TCP buffer against the first one."""
    found = []
    for factor in ("mtu", "tcp_space"):
        baseline, *others = levels(measured(trials), factor) or [None]
        found += [(factor, baseline, level) for level in others]
    return found


def pairs(trials: pd.DataFrame, factor: str, baseline: Any, level: Any) -> pd.DataFrame:
    """Speeds at two levels of a factor, paired within one block at the same levels of all other factors.

    Columns: block, the other factors, ``baseline`` and ``level`` in MB/s, their ``ratio`` (level over baseline) and
    ``change_pct``. A case that was measured several times in one block counts once, by its median.
    """
    same = ["block", *(other for other in FACTORS if other != factor)]
    counted = measured(trials)
    sides = [
        counted[counted[factor] == at].groupby(same, sort=False, as_index=False)["MB_per_s"].median()
        for at in (baseline, level)
    ]
    paired: pd.DataFrame = sides[0].merge(sides[1], on=same, suffixes=("_baseline", "_level"))
    paired = paired.rename(columns={"MB_per_s_baseline": "baseline", "MB_per_s_level": "level"})
    paired["ratio"] = paired["level"] / paired["baseline"]
    changes = [percent_change(old, new) for old, new in zip(paired["baseline"], paired["level"], strict=True)]
    return paired.assign(change_pct=np.array(changes, dtype="float64"))


def paired_effects(
    trials: pd.DataFrame, factor: str, baseline: Any, level: Any, by: Sequence[str] = POOLED
) -> pd.DataFrame:
    """The change of speed from ``baseline`` to ``level`` of a factor, one row a combination of ``by``.

    Columns: ``by``, factor, baseline, level, n_pairs, and in percent (level over baseline, less one): the median of
    the paired ratios, its exact 95 % sign-test interval (low, high; NaN for fewer than 6 pairs), and the geometric
    mean of the ratios. Another column may be the factor, such as a ``run`` that was added before two runs were joined.
    """
    return _effects(trials, [(factor, baseline, level)], [name for name in by if name != factor])


def all_effects(trials: pd.DataFrame, by: Sequence[str] = POOLED) -> pd.DataFrame:
    """:func:`paired_effects` of every one of :func:`contrasts`, one below the other."""
    return _effects(trials, contrasts(trials), by)


def drift(trials: pd.DataFrame) -> pd.Series[float]:
    """How far each ok trial lies from the median of its own case, in percent, by the index of ``trials``.

    Cases with one ok trial are left out: they have nothing to differ from.
    """
    ok = trials[(trials["status"] == "ok") & (trials["MB_per_s"] > 0)]
    speeds = ok.groupby("case_id")["MB_per_s"]
    middle, repeated = speeds.transform("median"), speeds.transform("size") > 1
    changes = [percent_change(*pair) for pair in zip(middle[repeated], ok.loc[repeated, "MB_per_s"], strict=True)]
    return pd.Series(changes, index=ok.index[repeated], dtype="float64")


def size_label(size: Any) -> str:
    """A size as a person writes it: ``default``, ``512 KiB``, ``100000 B``."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if isinstance(size, int) and size % 2**power == 0:
            return f"{size >> power} {unit}"
    return f"{size} B" if isinstance(size, int) else str(size)


def change_label(factor: str, baseline: Any, level: Any) -> str:
    """A contrast in words, such as ``MTU 1500 → 9000``."""
    if factor == "tcp_space":
        return f"TCP buffer {size_label(baseline)} → {size_label(level)}"
    return f"{'MTU' if factor == 'mtu' else factor} {baseline} → {level}"


def provenance(trials: pd.DataFrame) -> tuple[str, str]:
    """Where it was measured (may be empty), and the hosts, day, payload and number of trials.

    Both have to stand under every figure and every table; the first begins with ``local lab`` when it was that.
    """
    run = trials.attrs.get("run", {})
    where = run.get("title") or ""
    if run.get("instance") is not None and "local lab" not in where.lower():
        where = ", ".join(filter(None, ["local lab", where]))
    hosts, moved = run.get("hosts", {}), transfers(trials)
    names = " → ".join(str(hosts[side].get("hostname", side)) for side in ("client", "server") if hosts.get(side))
    sizes = moved[["workload", "size_bytes"]].drop_duplicates().itertuples(index=False)
    payloads = [f"{workload} of {size_label(size)}" for workload, size in sizes]
    n = ", ".join(f"{(moved['status'] == status).sum()} {status}" for status in ("ok", "void", "failed"))
    facts = [names, run.get("started_at", "")[:10], *payloads, f"n = {n}", f"blocks: {trials['block'].nunique()}"]
    return where, " · ".join(filter(None, facts))


def _effects(trials: pd.DataFrame, compared: list[tuple[str, Any, Any]], by: Sequence[str]) -> pd.DataFrame:
    rows = []
    for factor, baseline, level in compared:
        paired = _in_order(pairs(trials, factor, baseline, level), by)
        for at, group in paired.groupby(list(by), sort=False):
            ratio = group["ratio"].to_numpy()
            middle = [np.median(ratio), *median_interval(ratio), np.exp(np.log(ratio).mean())]
            changes = [percent_change(1, float(value)) for value in middle]
            rows.append((*at, factor, baseline, level, len(ratio), *changes))
    dtypes = {"n_pairs": "int64"} | dict.fromkeys(EFFECT[4:], "float64")
    return pd.DataFrame(rows, columns=[*by, *EFFECT]).astype(dtypes)


def _summarised(trials: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    rows = []
    for at, group in _in_order(trials, by).groupby(list(by), sort=False):
        ok = group[group["status"] == "ok"]
        speed = ok["MB_per_s"].dropna().to_numpy()
        extremes = (speed.min(), speed.max()) if len(speed) else (np.nan, np.nan)
        counts = (len(ok), *((group["status"] == status).sum() for status in ("void", "failed")))
        rows.append((*at, *counts, _median(speed), *median_interval(speed), *extremes, _median(ok["share_of_ceiling"])))
    columns = [*by, *COUNTS, *SPEEDS, "share_of_ceiling"]
    dtypes = dict.fromkeys(COUNTS, "int64") | dict.fromkeys((*SPEEDS, "share_of_ceiling"), "float64")
    return pd.DataFrame(rows, columns=columns).astype(dtypes)


def _median(values: npt.ArrayLike) -> float:
    """The median of what is not NaN; NaN, without a warning, when nothing is left."""
    present = np.asarray(values, dtype=float)
    present = present[~np.isnan(present)]
    return float(np.median(present)) if len(present) else np.nan


def _in_order(frame: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    return frame.sort_values(list(by), key=_reading_order, kind="stable")


def _reading_order(column: pd.Series[Any]) -> pd.Series[Any]:
    """A sortable stand-in for a column of levels, which may mix numbers with ``default``."""
    first = {"default": -1, "write": 0, "read": 1}
    if column.name in ("tcp_space", "direction"):
        return column.map(lambda level: first.get(level, level))
    return column
