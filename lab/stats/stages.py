"""From the disk to the tool: the speed of each stage by itself, which shows where speed was lost."""

import numpy as np
import pandas as pd

from lab.design.factors import owner_of
from lab.results.dataframe import observed_numbers
from lab.stats.encoding import median_of_each_case
from lab.stats.factors import POOLED, Level, factors_of
from lab.stats.link_ceilings import SETTING
from lab.stats.store_numbers import DEVICE, store_columns

# The columns of the stages, in the order in which the bytes of a read pass them
DISK, STORE, SERVER, LINK, PROTOCOL, UNFLUSHED, TOOL = STAGES = (
    "disk_MB_per_s", "store_MB_per_s", "server_MB_per_s", "link_MB_per_s", "protocol_MB_per_s",
    "before_flush_MB_per_s", "tool_MB_per_s",
)  # fmt: skip
_BY_ITSELF = {DISK: DEVICE, STORE: "dd", SERVER: "memory"}  # the tool of store_numbers, by stage
_SETTING = list(SETTING)


def waterfall(
    summary: pd.DataFrame, ceilings: pd.DataFrame, store_numbers: pd.DataFrame, some: pd.DataFrame
) -> pd.DataFrame:
    """One row a case that has a speed: its levels, then the medians of STAGES in MB/s (10^6); NaN where not measured.

    disk: the devices while dd measured the store; store: dd; server: dd without the disk; link: iperf3; protocol: its
    fastest tool, all else alike; before_flush: the case until its tool ended, if the client flushed after; tool: the
    case itself. Takes the results of :func:`lab.stats.summary`, :func:`lab.stats.ceilings`,
    :func:`lab.stats.store_numbers.store_numbers` and :func:`lab.stats.encoding.some_of_each_case`.
    """
    table = summary[summary["n"] > 0].reset_index(drop=True)
    names = list(factors_of(table.columns))
    levels = table[names]
    stores = [name for name in store_columns(store_numbers) if name in levels]
    stages = {}
    for stage, tool in _BY_ITSELF.items():
        of_tool = store_numbers[store_numbers["tool"] == tool]
        keys = of_tool[[*stores, "test"]].itertuples(index=False, name=None)
        known = dict(zip(keys, of_tool["median"].astype(float) / 1e6, strict=True))
        stages[stage] = _look_up(levels, [*stores, "direction"], known)
    links = zip(ceilings[_SETTING].itertuples(index=False, name=None), ceilings["median_MB_per_s"], strict=True)
    stages[LINK] = _look_up(levels, _SETTING, dict(links))
    stages[UNFLUSHED] = _look_up(levels, names, _before_flush(some))
    stages[TOOL] = table["median_MB_per_s"]
    tools = set(levels["tool"])
    alike = [name for name in levels if name != "tool" and owner_of(str(name)) not in tools]
    stages[PROTOCOL] = table.groupby(alike, sort=False, observed=True)["median_MB_per_s"].transform("max")
    return levels.assign(**{stage: stages[stage] for stage in STAGES})


def fastest_cases(waterfall: pd.DataFrame) -> pd.DataFrame:
    """The fastest case of each protocol, tool and direction, on a store that was measured by itself if there is one."""
    measured = set(waterfall["store"][waterfall[STORE].notna()])
    cases = waterfall[waterfall["store"].isin(measured)] if measured else waterfall
    return cases.loc[sorted(cases.groupby(list(POOLED), observed=True)[TOOL].idxmax())]


def _before_flush(some: pd.DataFrame) -> dict[tuple[Level, ...], float]:
    """The median speed of each case without the time of its flush, if its trials noted that."""
    took = observed_numbers(some, {"flush_s": "took"})["took"]
    if took.isna().all():  # of older runs
        return {}
    speed = some["size_bytes"] / (some["elapsed_s"] - took) / 1e6
    return median_of_each_case(some, speed.where(speed > 0))


def _look_up(levels: pd.DataFrame, names: list[str], known: dict[tuple[Level, ...], float]) -> pd.Series:
    """The known number for each row's levels of these factors."""
    keys = levels[names].itertuples(index=False, name=None)
    return pd.Series([known.get(key, np.nan) for key in keys], index=levels.index, dtype=float)
