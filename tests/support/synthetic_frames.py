"""SYNTHETIC frames made from arrays (cases × blocks of log speeds), rows of tables of effects, and random series."""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lab.design.factors import OPTIONS
from lab.stats.intervals import Floats
from lab.stats.speed_histories import Point, SpeedHistory, p_of_change, speed_history

FIXED: dict[str, Any] = {
    "protocol": "afp", "tool": "cp", "direction": "write", "mtu": 1500, "tcp_space": "default", "store": "ram",
    "workload": "file", "anchor": False, "size_bytes": 2**29, "observed": "{}", **OPTIONS,
}  # fmt: skip
BEGUN = pd.Timestamp("2030-01-02", tz="UTC").as_unit("us")


def cases(**varied: Sequence[Any]) -> pd.DataFrame:
    return pd.DataFrame(list(itertools.product(*varied.values())), columns=list(varied))


def run(of: pd.DataFrame, logs: np.ndarray[Any, Any], **changes: Any) -> pd.DataFrame:
    """A frame with one trial a case and block, from log speeds (cases × blocks); NaN is a failed trial."""
    speed = np.exp(logs.T.ravel())
    return _trials(tuple(of), tuple(of.itertuples(index=False, name=None)), logs.shape[1]).assign(
        MB_per_s=speed, bytes_per_s=1e6 * speed, status=np.where(np.isnan(speed), "failed", "ok"),
        share_of_ceiling=speed / 118, **changes,
    )  # fmt: skip


@functools.lru_cache(maxsize=50)
def _trials(names: tuple[str, ...], levels: tuple[tuple[Any, ...], ...], blocks: int) -> pd.DataFrame:
    """The frame without speeds: a simulation has the same trials again and again."""
    of, count = pd.DataFrame(levels, columns=names, index=range(len(levels))), len(levels)
    frame = of.iloc[np.tile(np.arange(count), blocks)].reset_index(drop=True)
    frame = frame.assign(**{name: level for name, level in FIXED.items() if name not in frame})
    case_ids = of.astype(str).agg("-".join, axis=1).to_numpy() if names else np.array(["case"])
    seconds = pd.to_timedelta(10.0 * np.arange(count * blocks), unit="s").as_unit("us")
    return frame.assign(
        trial_id=pd.Series(np.arange(count * blocks)).astype("str"), case_id=np.tile(case_ids, blocks),
        block=np.repeat(np.arange(1, blocks + 1), count),
        position=np.tile(np.arange(1, count + 1), blocks), started_at=BEGUN + seconds,
    )  # fmt: skip


def noise(rng: np.random.Generator, of: pd.DataFrame, blocks: int) -> np.ndarray[Any, Any]:
    """Log speeds with a random effect of each block, of each MTU in a block, and of each trial."""
    mtu = pd.factorize(of["mtu"])[0] if "mtu" in of else np.zeros(len(of), dtype=int)
    whole_plots = rng.normal(0, 0.03, (mtu.max() + 1, blocks))
    logs: np.ndarray[Any, Any] = (
        4.6 + rng.normal(0, 0.1, blocks) + whole_plots[mtu] + rng.normal(0, 0.02, (len(of), blocks))
    )
    return logs


GRID = cases(
    protocol=["afp", "smb"], tool=["cp", "rsync"], direction=["write", "read"], mtu=[1500, 9000],
    tcp_space=["default", 65536],
)  # fmt: skip


SEEDS = range(5)


def pct(log_ratio: Any) -> Any:
    return 100 * np.expm1(log_ratio)


def at(frame: pd.DataFrame, **levels: Any) -> pd.DataFrame:
    return frame[np.all([frame[name] == level for name, level in levels.items()], axis=0)]


def one(frame: pd.DataFrame, **levels: Any) -> Any:
    """The only row at these levels."""
    rows = at(frame, **levels)
    assert len(rows) == 1
    return rows.iloc[0]


KEY = ("smb", "cp", "write")


def white(seed: int, n: int) -> Floats:
    values: Floats = np.random.default_rng(seed).normal(0, 1, n)
    return values


def resembling(seed: int, n: int, alike: float) -> Floats:
    """A first-order autoregression of variance 1 with the coefficient ``alike``."""
    values: Floats = blocks_alike(seed, 1, n, alike)[0]
    return values


def blocks_alike(seed: int, rows: int, blocks: int, alike: float) -> Floats:
    """Several rows of such a series."""
    values = np.random.default_rng(seed).normal(0, 1, (rows, blocks))
    for block in range(1, blocks):
        values[:, block] = alike * values[:, block - 1] + np.sqrt(1 - alike**2) * values[:, block]
    return values


def scattered(seed: int, n: int) -> Floats:
    speeds: Floats = 100 * np.exp(np.random.default_rng(seed).normal(0, 0.02, n))
    return speeds


def points(speeds: Floats, n: int = 7) -> list[Point]:
    """A run a day with these speeds."""
    return [Point(number, n, float(speed), np.nan, np.nan, 0.01) for number, speed in enumerate(speeds)]


def speed_history_of(speeds: Floats) -> SpeedHistory:
    history = points(speeds)
    return speed_history(KEY, history, np.arange(len(history), dtype=float), p_of_change(history))
