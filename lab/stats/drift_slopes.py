"""Drift of speeds during a run: inside its blocks, and from its start to its end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.stats.encoding import Encoded, Trials, encode
from lab.stats.intervals import Floats, change_with_interval, log_percent, t_means
from lab.stats.two_way import two_way

MOST_POINTS = 500  # of a slope, which looks at every pair of points
NORMAL_97_5 = 1.959963984540054


@dataclass(frozen=True)
class Drift:
    """Changes of speed in percent, each with its 95 % interval; NaN where unknown.

    ``in_block``: the last anchor of a block against its first, mean over ``n_blocks``. ``over_run``: by the slope
    from the first to the last of ``n_points`` blocks, with anchors if the run is ``anchored``. ``ends`` are the
    median speeds of the first and the last block, in MB/s, in the ``direction`` that changed most.
    """

    in_block_pct: tuple[float, float, float]
    n_blocks: int
    over_run_pct: tuple[float, float, float]
    n_points: int
    anchored: bool
    direction: str = ""
    ends: tuple[float, float] = (np.nan, np.nan)


def from_own_case(trials: Trials) -> pd.Series[float]:
    """How far each ok trial lies from its case over the whole run, in percent, by the index of ``trials``.

    The case's level is its effect in log MB/s = case + block (:func:`lab.stats.two_way.two_way`), so that it does not
    depend on which blocks have it. NaN for other trials, and in cases with one ok trial.
    """
    encoded = encode(trials)
    changes = np.full(len(encoded.frame), np.nan)
    for group in (encoded.moved, ~encoded.moved):  # transfers need not drift as the bare link does
        chosen = np.flatnonzero(encoded.good & group)
        logs = np.log(encoded.values("MB_per_s")[chosen].astype(float))
        case = encoded.number_values("case_id")[0][chosen]
        cases, _ = two_way(_by_case_and_block(encoded, chosen))
        often = np.bincount(case)[case] > 1
        changes[chosen[often]] = log_percent((logs - cases[case])[often])
    return pd.Series(changes, index=encoded.frame.index)


def drift(trials: Trials) -> Drift:
    """The drift inside blocks, by a run's anchors, and over the whole run, by all transfers and anchors."""
    encoded = encode(trials)
    counted = encoded.good & encoded.moved
    anchors = counted & ~encoded.transfer
    within = t_means(_last_over_first(encoded.frame[["block", "position", "MB_per_s"]][anchors])[None, :])
    times, logs = _blocks(encoded, np.flatnonzero(counted))
    return Drift(
        change_with_interval(within.ends[:, 0]),
        int(within.n[0]), change_with_interval(np.array(theil_sen(times, logs))), len(times), bool(anchors.any()),
        *_ends(encoded.frame[encoded.good & encoded.transfer]),
    )  # fmt: skip


def theil_sen(x: Floats, y: Floats, alike: float = 0.0) -> tuple[float, float, float]:
    """The median of the slopes between all pairs of points, and its 95 % interval (from 6 points); NaN where unknown.

    ``alike``, the correlation of neighbours, makes the interval wider, as fewer independent points would. More than
    MOST_POINTS points are first joined to medians of equally many neighbours. Source: Sen, Estimates of the regression
    coefficient based on Kendall's tau, 1968; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed.,
    section 9.3.
    """
    if len(x) > MOST_POINTS:
        points = pd.DataFrame({"x": x, "y": y}).sort_values("x", kind="stable")
        points = points.groupby(np.arange(len(x)) * MOST_POINTS // len(x)).median()
        x, y = points["x"].to_numpy(), points["y"].to_numpy()
    one, other = np.triu_indices(len(x), 1)
    distinct = x[other] != x[one]
    slopes = np.sort((y[other] - y[one])[distinct] / (x[other] - x[one])[distinct])
    if not len(slopes):
        return np.nan, np.nan, np.nan
    n = len(x)
    spread = np.sqrt(n * (n - 1) * (2 * n + 5) / 18 * (1 + alike) / (1 - alike))
    rank = int((len(slopes) - NORMAL_97_5 * spread) / 2)
    low, high = (slopes[rank - 1], slopes[-rank]) if rank > 0 else (np.nan, np.nan)
    return float(np.median(slopes)), float(low), float(high)


def _last_over_first(anchors: pd.DataFrame) -> Floats:
    """The log ratio of the last anchor of each block to its first; without blocks of one anchor."""
    blocks = anchors.sort_values(["block", "position"]).groupby("block")["MB_per_s"]
    ends = np.log(blocks.agg(["first", "last"]).to_numpy(dtype=float))[blocks.size().to_numpy() > 1]
    ratios: Floats = ends[:, 1] - ends[:, 0]
    return ratios


def _ends(transfers: pd.DataFrame) -> tuple[str, tuple[float, float]]:
    """The direction and the ends of a Drift, from the cases that both blocks have."""
    speeds = transfers.groupby(["direction", "case_id", "block"], observed=True)["MB_per_s"].median().unstack()
    both = speeds.iloc[:, [0, -1][: speeds.shape[1]]].dropna().groupby("direction", observed=True).median()
    ends = [(way, (first, last)) for way, first, last in both.itertuples(name=None)] if speeds.shape[1] > 1 else []
    return max(ends, key=lambda end: abs(np.log(end[1][1] / end[1][0])), default=("", (np.nan, np.nan)))


def _by_case_and_block(trials: Encoded, chosen: npt.NDArray[np.intp]) -> Floats:
    """The mean log speed of the chosen rows of each case in each block (cases × blocks, NaN where none)."""
    (case, cases), (block, blocks) = trials.number_values("case_id"), trials.levels("block", chosen)
    shape = (len(cases), len(blocks))
    cell = case[chosen].astype(np.intp) * shape[1] + block
    count = np.bincount(cell, minlength=shape[0] * shape[1])
    sums = np.bincount(cell, np.log(trials.values("MB_per_s")[chosen].astype(float)), minlength=len(count))
    return np.where(count > 0, sums, np.nan).reshape(shape) / np.maximum(count, 1).reshape(shape)


def _blocks(trials: Encoded, chosen: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
    """For each block its time (first 0, last 1), and its log ratio to others by least squares of case and block."""
    _, logs = two_way(_by_case_and_block(trials, chosen))
    times = pd.Series(trials.frame["started_at"].astype("int64").to_numpy()[chosen].astype("float64"))
    middle = times.groupby(trials.levels("block", chosen)[0]).median().to_numpy()
    known = np.isfinite(logs)
    since = middle[known] - (middle[known].min() if known.any() else 0)
    return since / (since.max(initial=0) or 1), logs[known]
