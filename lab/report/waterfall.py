"""From the disk to the tool, as a table: what each stage carries by itself, and which of them is the narrowest."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lab import stats
from lab.report.tables import TextTable, levels, number, varied_and_alike
from lab.stats.waterfall import DISK, LINK, PROTOCOL, SERVER, STAGES, STORE, TOOL, UNFLUSHED

NAMES = {
    DISK: "disk", STORE: "store", SERVER: "server", LINK: "link", PROTOCOL: "protocol", UNFLUSHED: "before flush",
    TOOL: "tool",
}  # fmt: skip
BY_ITSELF = STAGES[: STAGES.index(PROTOCOL)]
MOST_ROWS = 200  # of a report: the cases of a large sweep are in its JSON


def narrowest(row: stats.Row) -> str:
    """Of the stages that carry something by themselves, the one that carries least; empty where none was measured.

    The disk is none of them: what its devices move for the store is not what they could.
    """
    measured = [stage for stage in BY_ITSELF if stage != DISK and not np.isnan(row[stage])]
    return min(measured, key=lambda stage: float(row[stage]), default="")


def waterfall_table(table: pd.DataFrame) -> TextTable:
    """What :func:`lab.stats.waterfall.waterfall` says, with the narrowest stage and how much of it was reached."""
    shown = [stage for stage in STAGES if table[stage].notna().any()]
    varied, alike = varied_and_alike(table[[name for name in table.columns if name not in STAGES]])
    rows = []
    for row in stats.rows_of(table)[:MOST_ROWS]:
        least = narrowest(row)
        reached = number(100 * row[TOOL] / row[least], ".0f", " %") if least else "–"
        named = levels(row, [name for name in varied if name not in stats.POOLED])
        speeds = [number(row[stage], ".1f") for stage in shown]
        rows.append([", ".join([stats.row_label(row), *named]), *speeds, NAMES.get(least, "–"), reached])
    more = f" {len(table) - MOST_ROWS} more cases are in the JSON." if len(table) > MOST_ROWS else ""
    flush = "before flush: this one until it ended, for what the client flushes then; " if UNFLUSHED in shown else ""
    caption = (
        "MB/s (10⁶), medians. Disk: what its devices moved while the store was measured; store: dd on the server; "
        f"server: dd there without the disk; link: iperf3; protocol: its fastest tool; {flush}tool: this one. "
        f"Narrowest: of store, server and link; reached: the tool's share of that. {alike}{more}"
    )
    return TextTable(["", *(NAMES[stage] for stage in shown), "narrowest", "reached"], rows, caption)
