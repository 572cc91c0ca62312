"""Whether speeds moved while a run went on: inside its blocks, and from its begin to its end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.stats.encoding import Encoded, Trials, encode
from lab.stats.intervals import Floats, percent_change, t_means
from lab.stats.two_way import two_way

MOST_POINTS = 500  # that a slope is taken over: it looks at every pair of them
NORMAL_97_5 = 1.959963984540054


@dataclass(frozen=True)
class Drift:
    """Changes of speed in percent, each with its 95 % interval; NaN where there is too little to tell.

    ``in_block``: the last anchor of a block against its first, mean of ``n_blocks`` blocks. ``over_run``: by the slope
    of the blocks over time, from the first to the last of ``n_points`` blocks; of all transfers, and of anchors where
    the run is ``anchored``.
    """

    in_block_pct: tuple[float, float, float]
    n_blocks: int
    over_run_pct: tuple[float, float, float]
    n_points: int
    anchored: bool


def from_own_case(trials: Trials) -> pd.Series[float]:
    """How far each ok trial lies from what its case is over the whole run, in percent, by the index of ``trials``.

    A case is what :func:`lab.stats.two_way.two_way` makes of log MB/s = case + block: what a block moves all cases by
    is no part of it, whichever blocks have the case. NaN for trials that are not ok, and in cases with one ok trial:
    they have nothing to differ from.
    """
    encoded = encode(trials)
    changes = np.full(len(encoded.frame), np.nan)
    for group in (encoded.moved, ~encoded.moved):  # what moves files need not drift as the bare link does
        chosen = np.flatnonzero(encoded.good & group)
        logs, case = _log_speeds(encoded, chosen), encoded.number_values("case_id")[0][chosen]
        cases, _ = two_way(_by_case_and_block(encoded, chosen))
        often = np.bincount(case)[case] > 1
        changes[chosen[often]] = percent_change(1.0, np.exp((logs - cases[case])[often]))
    return pd.Series(changes, index=encoded.frame.index)


def drift(trials: Trials) -> Drift:
    """How speeds moved: inside blocks by the anchors of a run; over the whole run by all transfers and anchors."""
    encoded = encode(trials)
    counted = encoded.good & encoded.moved
    anchors = counted & ~encoded.transfer
    within = t_means(_last_over_first(encoded.frame[["block", "position", "MB_per_s"]][anchors])[None, :])
    times, logs = _blocks(encoded, np.flatnonzero(counted))
    return Drift(
        _percent_with_ends(within.mean[0], within.mean[0] - within.half[0], within.mean[0] + within.half[0]),
        int(within.n[0]), _percent_with_ends(*theil_sen(times, logs)), len(times), bool(anchors.any()),
    )  # fmt: skip


def theil_sen(x: Floats, y: Floats, alike: float = 0.0) -> tuple[float, float, float]:
    """The median of the slopes between all pairs of points, and its 95 % interval (from 6 points); NaN where none.

    ``alike`` is how much points next to one another are correlated: it makes the interval wider, by as much as fewer
    independent points would (:mod:`lab.stats.moderation`).
    More than MOST_POINTS points are first taken together, as the medians of equally many neighbours. Source: Sen,
    Estimates of the regression coefficient based on Kendall's tau, 1968; Hollander, Wolfe and Chicken, Nonparametric
    Statistical Methods, 3rd ed., section 9.3.
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
    """The log ratio of the last anchor of each block to its first one; blocks with one anchor are left out."""
    blocks = anchors.sort_values(["block", "position"]).groupby("block")["MB_per_s"]
    ends = np.log(blocks.agg(["first", "last"]).to_numpy(dtype=float))[blocks.size().to_numpy() > 1]
    ratios: Floats = ends[:, 1] - ends[:, 0]
    return ratios


def _log_speeds(trials: Encoded, chosen: npt.NDArray[np.intp]) -> Floats:
    logs: Floats = np.log(trials.values("MB_per_s")[chosen].astype(float))
    return logs


def _by_case_and_block(trials: Encoded, chosen: npt.NDArray[np.intp]) -> Floats:
    """The log speeds of the chosen rows (cases × blocks), by the numbers of both; the mean of what stands twice."""
    (case, cases), (block, blocks) = trials.number_values("case_id"), trials.levels("block", chosen)
    shape = (len(cases), len(blocks))
    cell = case[chosen].astype(np.intp) * shape[1] + block
    count = np.bincount(cell, minlength=shape[0] * shape[1])
    sums = np.bincount(cell, _log_speeds(trials, chosen), minlength=len(count))
    means: Floats = np.where(count > 0, sums, np.nan).reshape(shape) / np.maximum(count, 1).reshape(shape)
    return means


def _blocks(trials: Encoded, chosen: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
    """For each block: when it was, 1 being the last, and how much faster it is than others, as a log ratio.

    By least squares of case and block: against its own median a case's trial in the middle is at 0 whatever drifts, and
    of three blocks each holds a third of these. A mean over cases needs no guard against single trials that the median
    of slopes is not: it is the blocks that are few.
    """
    _, logs = two_way(_by_case_and_block(trials, chosen))
    times = pd.Series(trials.frame["started_at"].astype("int64").to_numpy()[chosen].astype("float64"))
    middle = times.groupby(trials.levels("block", chosen)[0]).median().to_numpy()
    known = np.isfinite(logs)
    since = middle[known] - (middle[known].min() if known.any() else 0)
    return since / (since.max(initial=0) or 1), logs[known]


def _percent_with_ends(estimate: float, low: float, high: float) -> tuple[float, float, float]:
    return tuple(float(percent_change(1.0, np.exp(value))) for value in (estimate, low, high))  # type: ignore[return-value]
