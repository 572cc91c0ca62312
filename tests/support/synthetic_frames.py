"""SYNTHETIC frames for tests, made straight from arrays: cases × blocks of log speeds. Not measurements."""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lab.design.factors import OPTIONS

FIXED: dict[str, Any] = {
    "protocol": "afp", "tool": "cp", "direction": "write", "mtu": 1500, "tcp_space": "default", "store": "ram",
    "workload": "file", "anchor": False, "size_bytes": 2**29, "observed": "{}", **OPTIONS,
}  # fmt: skip
BEGUN = pd.Timestamp("2030-01-02", tz="UTC").as_unit("us")


def cases(**varied: Sequence[Any]) -> pd.DataFrame:
    """All combinations of the levels of the varied factors, one row each."""
    return pd.DataFrame(list(itertools.product(*varied.values())), columns=list(varied))


def run(of: pd.DataFrame, logs: np.ndarray[Any, Any], **changes: Any) -> pd.DataFrame:
    """A frame with one trial a case and block, of log speeds (cases × blocks); NaN is a failed trial."""
    speed = np.exp(logs.T.ravel())
    return _trials(tuple(of), tuple(of.itertuples(index=False, name=None)), logs.shape[1]).assign(
        MB_per_s=speed, bytes_per_s=1e6 * speed, status=np.where(np.isnan(speed), "failed", "ok"),
        share_of_ceiling=speed / 118, **changes,
    )  # fmt: skip


@functools.lru_cache(maxsize=50)
def _trials(names: tuple[str, ...], levels: tuple[tuple[Any, ...], ...], blocks: int) -> pd.DataFrame:
    """All of it but the speeds: a simulation has the same trials again and again."""
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
    """Log speeds with a disturbance of each block, of each MTU in a block, and of each trial."""
    mtu = pd.factorize(of["mtu"])[0] if "mtu" in of else np.zeros(len(of), dtype=int)
    whole_plots = rng.normal(0, 0.03, (mtu.max() + 1, blocks))
    found: np.ndarray[Any, Any] = (
        4.6 + rng.normal(0, 0.1, blocks) + whole_plots[mtu] + rng.normal(0, 0.02, (len(of), blocks))
    )
    return found
