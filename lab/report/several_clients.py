"""What several clients at once got: all together, and each by itself."""

from __future__ import annotations

import pandas as pd

from lab.report.own_numbers import by_case, case_name, factors_only, observed_numbers
from lab.report.tables import TextTable, number, varied_and_alike
from lab.stats.factors import rows_of

PART = "together"  # of lab.results.observed.Observed
# heading, key of the table, factor, style
COLUMNS = (
    ("until the last", "bytes_per_s", 1e-6, ".1f"), ("all active", "all_active_bytes_per_s", 1e-6, ".1f"),
    ("slowest", "slowest_bytes_per_s", 1e-6, ".1f"), ("median", "median_bytes_per_s", 1e-6, ".1f"),
    ("fastest", "fastest_bytes_per_s", 1e-6, ".1f"), ("Jain", "jain", 1, ".2f"), ("tail s", "tail_s", 1, ".2f"),
    ("skew ms", "skew_s", 1000, ".1f"),
)  # fmt: skip
RECORDED = ("slowest_bytes_per_s", "median_bytes_per_s", "fastest_bytes_per_s", "jain", "tail_s", "skew_s")
CAPTION = (
    "Medians of n trials, MB/s. Until the last: all payloads, from the first start to the last end. All active: what "
    "crossed the interfaces of all clients while each was busy, headers included. Slowest, median and fastest: of the "
    "clients, each over its own time. Jain: 1 where all are as fast, 1/n where one has everything. Tail: from the "
    "first end to the last. Skew: from the first start to the last. "
)


def clients(some: pd.DataFrame) -> pd.DataFrame:
    """Medians over the trials of a case, one row a case of several clients: its levels, COLUMNS by key, and ``n``."""
    paths = {f"{PART}.{key}": key for key in (*RECORDED, "all_active_s", "all_active_bytes")}
    counted = observed_numbers(some, list(paths)).rename(columns=paths)
    counted["all_active_bytes_per_s"] = counted.pop("all_active_bytes") / counted.pop("all_active_s")
    counted["bytes_per_s"] = some["bytes_per_s"].where(counted["jain"].notna())
    return by_case(some, counted, "median")


def clients_table(some: pd.DataFrame) -> TextTable | None:
    """The same in words; None for a run of one client at a time."""
    table = clients(some)
    if table.empty:
        return None
    varied, alike = varied_and_alike(factors_only(table))
    rows = [
        [case_name(row, varied), *(number(scale * row[key], style) for _, key, scale, style in COLUMNS), str(row["n"])]
        for row in rows_of(table)
    ]
    return TextTable(["", *(heading for heading, *_ in COLUMNS), "n"], rows, CAPTION + alike)
