"""Whether speeds moved while a run went on: inside its blocks, and from its begin to its end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.stats.encoding import Encoded, Trials, encode
from lab.stats.factors import Codes
from lab.stats.intervals import Floats, median, percent_change, sort_by_group, t_means

MOST_POINTS = 500  # that a slope is taken over: it looks at every pair of them
NORMAL_97_5 = 1.959963984540054


@dataclass(frozen=True)
class Drift:
    """Changes of speed in percent, each with its 95 % interval; NaN where there is too little to tell.

    ``in_block``: the last anchor of a block against its first, mean of ``n_blocks`` blocks. ``over_run``: by the slope
    of the blocks' medians, from the first to the last of ``n_points`` blocks; of the anchors if ``anchored``, else of
    all transfers.
    """

    in_block_pct: tuple[float, float, float]
    n_blocks: int
    over_run_pct: tuple[float, float, float]
    n_points: int
    anchored: bool


def from_own_median(trials: Trials) -> pd.Series[float]:
    """How far each ok trial lies from the median of its own case, in percent, by the index of ``trials``.

    NaN for the others, and in cases with one ok trial: they have nothing to differ from.
    """
    encoded = encode(trials)
    case, speed = encoded.number_values("case_id")[0][encoded.good], encoded.values("MB_per_s")[encoded.good]
    changes = np.full(len(encoded.frame), np.nan)
    changes[encoded.good] = np.where(
        np.bincount(case)[case] > 1, percent_change(_own_median(case, speed), speed), np.nan
    )
    return pd.Series(changes, index=encoded.frame.index)


def drift(trials: Trials) -> Drift:
    """How speeds moved, by the anchors of a run; over the whole run, by all transfers where it has none."""
    encoded = encode(trials)
    counted = encoded.good & encoded.moved
    anchors = counted & ~encoded.transfer
    anchored = bool(anchors.any())
    within = t_means(_last_over_first(encoded.frame[["block", "position", "MB_per_s"]][anchors])[None, :])
    times, changes = _block_medians(encoded, anchors if anchored else counted)
    return Drift(
        _percent_with_ends(within.mean[0], within.mean[0] - within.half[0], within.mean[0] + within.half[0]),
        int(within.n[0]), _percent_with_ends(*theil_sen(times, changes)), len(times), anchored,
    )  # fmt: skip


def theil_sen(x: Floats, y: Floats) -> tuple[float, float, float]:
    """The median of the slopes between all pairs of points, and its 95 % interval (from 6 points); NaN where none.

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
    rank = int((len(slopes) - NORMAL_97_5 * np.sqrt(n * (n - 1) * (2 * n + 5) / 18)) / 2)
    low, high = (slopes[rank - 1], slopes[-rank]) if rank > 0 else (np.nan, np.nan)
    return float(np.median(slopes)), float(low), float(high)


def _last_over_first(anchors: pd.DataFrame) -> Floats:
    """The log ratio of the last anchor of each block to its first one; blocks with one anchor are left out."""
    blocks = anchors.sort_values(["block", "position"]).groupby("block")["MB_per_s"]
    ends = np.log(blocks.agg(["first", "last"]).to_numpy(dtype=float))[blocks.size().to_numpy() > 1]
    ratios: Floats = ends[:, 1] - ends[:, 0]
    return ratios


def _own_median(case: Codes, values: Floats) -> Floats:
    """For each value the median of those of its own case."""
    medians = np.array([median(of_case) for of_case in sort_by_group(case, values, int(case.max(initial=-1)) + 1)])
    return medians[case]


def _block_medians(trials: Encoded, chosen: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """For each block: when it was, 1 being the last, and the median log ratio of its trials to those of their cases."""
    logs = np.log(trials.values("MB_per_s")[chosen])
    deviations = logs - _own_median(trials.number_values("case_id")[0][chosen], logs)
    times = trials.frame["started_at"].astype("int64").to_numpy()[chosen].astype("float64")
    rows = pd.DataFrame({"time": times, "deviation": deviations})
    blocks = rows.groupby(trials.levels("block", chosen)[0]).median()
    since = (blocks["time"] - blocks["time"].min()).to_numpy()
    return since / (since.max(initial=0) or 1), blocks["deviation"].to_numpy()


def _percent_with_ends(estimate: float, low: float, high: float) -> tuple[float, float, float]:
    return tuple(float(percent_change(1.0, np.exp(value))) for value in (estimate, low, high))  # type: ignore[return-value]
