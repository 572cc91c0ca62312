"""What one store changes against another, or a level of an option against another, in what tools measured of the store
by itself: ratios within blocks, as of any other effect.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from lab.design.factors import ABSENT, LOCAL, OPTIONS
from lab.results.trial import MEMORY
from lab.stats.effect_ratios import EFFECT, SIGNIFICANCE, adjust_p_values, compared_factors, effects
from lab.stats.encoding import Trials, encode, grid
from lab.stats.factors import POOLED, factors_of
from lab.stats.store_numbers import DEVICE, measurements, store_columns

# Of all that is compared
ALIKE: dict[str, Any] = {"protocol": LOCAL, "mtu": 0, "tcp_space": ABSENT, "workload": "", **OPTIONS}


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
