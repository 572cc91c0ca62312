"""A grid of cases for tests of effects, and reading single rows of their tables."""

from typing import Any

import numpy as np
import pandas as pd

from support.synthetic_frames import cases

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
