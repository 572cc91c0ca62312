"""What the server's store does by itself: medians of dd, fio and bonnie++, measured on the server without a network."""

from collections.abc import Callable, Iterable
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
DEVICE = "devices"  # in place of a tool: what the server's disks moved below it
# key of lab.results.bonnie.Bonnie, and what its rate is of
BONNIE_TESTS = {
    **dict.fromkeys(("write_char", "write_block", "rewrite", "read_char", "read_block"), BYTES),
    **dict.fromkeys(("seeks", "create", "stat", "delete", "random_create", "random_stat", "random_delete"), OPERATIONS),
}
NUMBERS = ["value", "cpu", "longest_ms", "too_short", "cached"]
COLUMNS = ["tool", "test", "unit", "median", "least", "most", "cpu", "longest_ms", "too_short", "cached", "n"]
OF_STORES = (STORE_PROTOCOL, LOCAL)  # the protocols of trials of stores by themselves
# The levels that all compared rows share
ALIKE: dict[str, Any] = {"protocol": LOCAL, "mtu": 0, "tcp_space": ABSENT, "workload": "", **OPTIONS}


def store_numbers(trials: Trials) -> pd.DataFrame:
    """One row a store (with the levels of its options), tool and test; none where no store was measured by itself.

    Columns: ``store`` and options such as ``zfs.ashift``, then COLUMNS. ``tool`` may be DEVICE. ``test`` is ``write``
    or ``read``, or a test of bonnie++. ``median``, ``least`` and ``most`` are bytes, or operations, a second, as
    ``unit`` says, over ``n`` measurements; NaN where each was too short for a number, of which ``too_short`` is the
    count. ``cpu`` (share of a core) is a median, ``longest_ms`` the most. ``cached``: 1 where a file fits into memory.
    """
    return store_numbers_of(measurements(trials))


def store_numbers_of(every: pd.DataFrame) -> pd.DataFrame:
    """What :func:`store_numbers` returns, of what :func:`measurements` does."""
    if every.empty:
        return pd.DataFrame(columns=["store", *COLUMNS])
    stores = store_columns(every)
    groups = every.groupby([*stores, "tool", "test", "unit"], sort=False, observed=True)
    table = groups.agg(
        median=("value", "median"), least=("value", "min"), most=("value", "max"), cpu=("cpu", "median"),
        longest_ms=("longest_ms", "max"), too_short=("too_short", "sum"), cached=("cached", "max"), n=("cpu", "size"),
    )  # fmt: skip
    table = table.astype({"too_short": int}).reset_index()[[*stores, *COLUMNS]]
    return table.iloc[sorted(range(len(table)), key=_in_reading_order(table, stores))].reset_index(drop=True)


def _in_reading_order(table: pd.DataFrame, stores: list[str]) -> Callable[[int], Any]:
    """What rows are sorted by: the tests as they come, and of each the levels of its stores from the least."""
    tests = list(zip(table["tool"], table["test"], strict=True))
    first = {test: place for place, test in reversed(list(enumerate(tests)))}
    levels = [[rank(level) for level in row] for row in table[stores].itertuples(index=False, name=None)]
    return lambda row: (first[tests[row]], levels[row])


def measurements(trials: Trials) -> pd.DataFrame:
    """One row for each number that a tool gave of a store by itself, in trials that are ok; may be empty.

    Columns: those of :func:`store_columns`, ``block``, ``tool``, ``test``, ``unit``, and NUMBERS.
    """
    frame = encode(trials).frame
    rows = frame[frame["protocol"].isin(OF_STORES) & (frame["status"] == "ok")]
    other = [name for name in rows if owner_of(str(name)) not in ("", *rows["store"])]
    return measurements_of([rows.drop(columns=other)])


def measurements_of(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """What :func:`measurements` returns, of such trials alone, in frames that come one after the other.

    All frames have the same columns, without the options of other stores.
    """
    by_frame = [[*_of_dd(rows), *_of_fio(rows), *_of_bonnie(rows)] for rows in frames if len(rows)]
    parts = [part for of_one_test in zip(*by_frame, strict=True) for part in of_one_test if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def store_columns(table: pd.DataFrame) -> list[str]:
    """The columns that tell one store from another: its name, and its options."""
    return ["store", *(str(name) for name in table if owner_of(str(name)))]


def _of_dd(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """To and from the disk, what its devices moved meanwhile, and to and from memory; older runs say ``disk``."""
    shots = rows[rows["tool"].isin([DD, DISK, MEMORY])]
    tool = shots["tool"].astype(str).replace(DISK, DD)
    parts = [_part(shots, tool, shots["direction"].astype(str), BYTES, value=shots["bytes_per_s"])]
    for way, count in (("write", "disk_written_bytes"), ("read", "disk_read_bytes")):
        of_way = shots[(shots["direction"] == way) & (tool == DD)]
        moved = _numbers(of_way, {"moved": f"server.{count}"})["moved"]
        is_counted = moved >= DISK_MOVED * of_way["size_bytes"]
        rate = (moved / of_way["elapsed_s"])[is_counted]
        parts.append(_part(of_way[is_counted], DEVICE, way, BYTES, value=rate))
    return parts


def _of_fio(rows: pd.DataFrame) -> list[pd.DataFrame]:
    of_fio = rows[rows["tool"] == "fio"]
    parts = []
    for way in ("read", "write"):
        of_way = of_fio[of_fio["direction"] == way]
        numbers = _numbers(of_way, {"value": f"requests.{way}.iops", "longest_ms": f"requests.{way}.longest_ms"})
        parts.append(_part(of_way, "fio", way, OPERATIONS, **numbers))
    return parts


def _of_bonnie(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """All tests that any of them ran."""
    of_bonnie = rows[rows["tool"] == "bonnie++"]
    parts = []
    for test, unit in BONNIE_TESTS.items():
        paths = {"value": unit, "cpu": "cpu", "longest_ms": "longest_ms", "too_short": "too_short"}
        numbers = _numbers(of_bonnie, {name: f"bonnie.{test}.{key}" for name, key in paths.items()})
        numbers |= _numbers(of_bonnie, {"cached": "bonnie.cached"})
        part = _part(of_bonnie, "bonnie++", test, unit, **numbers)
        parts.append(part[part["value"].notna() | (part["too_short"] > 0)])
    return parts


def _numbers(rows: pd.DataFrame, paths: dict[str, str]) -> dict[str, pd.Series]:
    """What was observed, as numbers by name; NaN where it was not."""
    counted = dataframe.observed(rows, list(paths.values()))
    nothing = pd.Series(np.nan, index=rows.index)
    return {name: pd.to_numeric(counted.get(path, nothing), errors="coerce") for name, path in paths.items()}


def _part(
    rows: pd.DataFrame, tool: pd.Series | str, test: pd.Series | str, unit: str, **numbers: pd.Series
) -> pd.DataFrame:
    """These rows with what one tool says of one test."""
    values = {name: numbers.get(name, pd.Series(np.nan, index=rows.index)).astype(float) for name in NUMBERS}
    stores = {name: rows[name].astype(str) for name in store_columns(rows)}
    return pd.DataFrame({**stores, "block": rows["block"], "tool": tool, "test": test, "unit": unit, **values})


def store_effects(trials: Trials) -> pd.DataFrame:
    """One row a tool, test and comparison of two stores or levels of an option: the columns of
    :func:`lab.stats.effects`, of which ``direction`` is the test.

    A block that has several measurements of a store counts their median. The p-values are adjusted for all rows (Holm).
    """
    return store_effects_of(measurements(trials))


def store_effects_of(every: pd.DataFrame) -> pd.DataFrame:
    """What :func:`store_effects` returns, of what :func:`lab.stats.store_numbers.measurements` does."""
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
    """Measurements of one test as rows that the machinery of effects takes, in place of MB/s their values."""
    stores = rows[store_columns(rows)]
    table = stores.assign(block=rows["block"], anchor=False, status="ok", MB_per_s=rows["value"])
    for name in factors_of(stores.columns):
        if name not in table:
            table[name] = ALIKE.get(name, "")
    return table
