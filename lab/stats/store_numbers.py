"""The server's store by itself: medians of dd, fio and bonnie++, measured on the server without a network."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from lab.design.factors import ABSENT, LOCAL, OPTIONS, owner_of, rank
from lab.results import dataframe
from lab.results.trial import DD, DISK, MEMORY, STORE_PROTOCOL
from lab.stats.effect_ratios import EFFECT, SIGNIFICANCE, adjust_p_values, compared_factors, effects
from lab.stats.encoding import Trials, encode, grid
from lab.stats.factors import POOLED, factors_of
from lab.stats.trial_numbers import DISK_MOVED

BYTES, OPERATIONS = "bytes_per_s", "per_s"
DEVICE = "devices"  # in place of a tool: traffic of the server's disks
# the unit of each test, by its key in lab.results.observed.Bonnie
BONNIE_TESTS = {
    **dict.fromkeys(("write_char", "write_block", "rewrite", "read_char", "read_block"), BYTES),
    **dict.fromkeys(("seeks", "create", "stat", "delete", "random_create", "random_stat", "random_delete"), OPERATIONS),
}
NUMBERS = ["value", "cpu", "longest_ms", "too_short", "cached"]
COLUMNS = ["tool", "test", "unit", "median", "least", "most", "cpu", "longest_ms", "too_short", "cached", "n"]
OF_STORES = (STORE_PROTOCOL, LOCAL)  # protocols of trials of stores by themselves
# levels that all compared rows share
ALIKE: dict[str, Any] = {"protocol": LOCAL, "mtu": 0, "tcp_space": ABSENT, "workload": "", **OPTIONS}


def store_numbers(every: pd.DataFrame) -> pd.DataFrame:
    """One row a store (with the levels of its options), tool and test, from :func:`measurements`; may be empty.

    Columns: ``store`` and options such as ``zfs.ashift``, then COLUMNS. ``tool`` may be DEVICE. ``test`` is ``write``,
    ``read``, or a test of bonnie++. ``median``, ``least`` and ``most`` are in ``unit`` a second, over ``n``
    measurements; NaN if all were too short, which ``too_short`` counts. ``cpu`` is a median (share of a core),
    ``longest_ms`` a maximum. ``cached``: 1 where a file fits into memory.
    """
    if every.empty:
        return pd.DataFrame(columns=["store", *COLUMNS])
    stores = store_columns(every)
    groups = every.groupby([*stores, "tool", "test", "unit"], sort=False, observed=True)
    table = groups.agg(
        median=("value", "median"), least=("value", "min"), most=("value", "max"), cpu=("cpu", "median"),
        longest_ms=("longest_ms", "max"), too_short=("too_short", "sum"), cached=("cached", "max"), n=("cpu", "size"),
    )  # fmt: skip
    table = table.astype({"too_short": int}).reset_index()[[*stores, *COLUMNS]]
    tests = list(zip(table["tool"], table["test"], strict=True))
    first = {test: place for place, test in reversed(list(enumerate(tests)))}
    levels = [[rank(level) for level in row] for row in table[stores].itertuples(index=False, name=None)]
    in_order = sorted(range(len(table)), key=lambda row: (first[tests[row]], levels[row]))  # of tests, then of levels
    return table.iloc[in_order].reset_index(drop=True)


def measurements(trials: Trials) -> pd.DataFrame:
    """One row for each number by a tool of a store alone: :func:`store_columns`, block, tool, test, unit, NUMBERS."""
    frame = encode(trials).frame
    rows = frame[frame["protocol"].isin(OF_STORES) & (frame["status"] == "ok")]
    other = [name for name in rows if owner_of(str(name)) not in ("", *rows["store"])]
    return measurements_of([rows.drop(columns=other)])


def measurements_of(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """:func:`measurements` of frames with such trials only, which have the same columns, without other options."""
    by_frame = [[*_of_dd(rows), *_of_fio(rows), *_of_bonnie(rows)] for rows in frames if len(rows)]
    parts = [part for of_one_test in zip(*by_frame, strict=True) for part in of_one_test if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def store_columns(table: pd.DataFrame) -> list[str]:
    """The columns that identify a store: its name and its options."""
    return ["store", *(str(name) for name in table if owner_of(str(name)))]


def _of_dd(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """dd to and from the disk, the traffic of its devices meanwhile, and dd in memory; older runs say ``disk``."""
    shots = rows[rows["tool"].isin([DD, DISK, MEMORY])]
    tool = shots["tool"].astype(str).replace(DISK, DD)
    parts = [_part(shots, tool, shots["direction"].astype(str), BYTES, value=shots["bytes_per_s"])]
    for way, count in (("write", "disk_written_bytes"), ("read", "disk_read_bytes")):
        of_way = shots[(shots["direction"] == way) & (tool == DD)]
        moved = dataframe.observed_numbers(of_way, {f"server.{count}": "moved"})["moved"]
        is_counted = moved >= DISK_MOVED * of_way["size_bytes"]
        parts.append(_part(of_way[is_counted], DEVICE, way, BYTES, value=(moved / of_way["elapsed_s"])[is_counted]))
    return parts


def _of_fio(rows: pd.DataFrame) -> list[pd.DataFrame]:
    parts = []
    for way in ("read", "write"):
        of_way = rows[(rows["tool"] == "fio") & (rows["direction"] == way)]
        paths = {f"requests.{way}.iops": "value", f"requests.{way}.longest_ms": "longest_ms"}
        numbers = dataframe.observed_numbers(of_way, paths)
        parts.append(_part(of_way, "fio", way, OPERATIONS, **numbers))
    return parts


def _of_bonnie(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Every test that ran."""
    of_bonnie = rows[rows["tool"] == "bonnie++"]
    parts = []
    for test, unit in BONNIE_TESTS.items():
        names = {unit: "value", "cpu": "cpu", "longest_ms": "longest_ms", "too_short": "too_short"}
        paths = {f"bonnie.{test}.{key}": name for key, name in names.items()} | {"bonnie.cached": "cached"}
        part = _part(of_bonnie, "bonnie++", test, unit, **dataframe.observed_numbers(of_bonnie, paths))
        parts.append(part[part["value"].notna() | (part["too_short"] > 0)])
    return parts


def _part(
    rows: pd.DataFrame, tool: pd.Series | str, test: pd.Series | str, unit: str, **numbers: pd.Series
) -> pd.DataFrame:
    """One tool's numbers for one test, a row each."""
    values = {name: numbers.get(name, pd.Series(np.nan, index=rows.index)).astype(float) for name in NUMBERS}
    stores = {name: rows[name].astype(str) for name in store_columns(rows)}
    return pd.DataFrame({**stores, "block": rows["block"], "tool": tool, "test": test, "unit": unit, **values})


def store_effects(every: pd.DataFrame) -> pd.DataFrame:
    """One row a tool, test and comparison of two stores or levels of an option, from :func:`measurements`: the columns
    of :func:`lab.stats.effects`, with the test as ``direction``.

    Several measurements of a store in a block count by their median. P-values are adjusted for all rows (Holm).
    """
    tables = []
    if len(every):
        every = every[~every["tool"].isin([DEVICE, MEMORY]) & (every["value"] > 0)]
        for (tool, test), rows in every.groupby(["tool", "test"], sort=False, observed=True):
            speeds = grid(encode(_as_trials(rows)))
            if compared_factors(speeds):
                table = effects(speeds, by=())
                tables.append(table.assign(protocol=LOCAL, tool=str(tool), direction=str(test)))
    filled = [table[table["n_blocks"] > 0] for table in tables if len(table) and table["n_blocks"].any()]
    if not filled:
        return pd.DataFrame(columns=[*POOLED, *EFFECT])
    table = pd.concat(filled, ignore_index=True)
    adjusted, is_clear = adjust_p_values(table["moderated_p"].to_numpy())
    table = table.assign(p_adjusted=adjusted, established=is_clear & (table["p_value"] < SIGNIFICANCE))
    return table.sort_values(["factor", "baseline", "level"], kind="stable", ignore_index=True)[[*POOLED, *EFFECT]]


def _as_trials(rows: pd.DataFrame) -> pd.DataFrame:
    """Measurements of one test as trials whose speed is the measured value."""
    stores = rows[store_columns(rows)]
    table = stores.assign(block=rows["block"], anchor=False, status="ok", MB_per_s=rows["value"])
    for name in factors_of(stores.columns):
        if name not in table:
            table[name] = ALIKE.get(name, "")
    return table
