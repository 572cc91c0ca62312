"""What a report shows of the proof that both hosts gave: bytes on the wire, the TCP connection, remarks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lab import stats
from lab.design.factors import LINK
from lab.report.tables import TextTable, number
from lab.results import dataframe

MOST_REMARKS = 50
# heading, column of lab.results.observed, factor, style
COLUMNS = (
    ("on the wire %", "wire.overhead", 100, ".1f"), ("headers %", "wire.least_overhead", 100, ".1f"),
    ("resent", "tcp.retransmits", 1, ".0f"), ("RTT ms", "tcp.rtt_ms", 1, ".2f"),
    ("least RTT ms", "tcp.min_rtt_ms", 1, ".2f"), ("segment", "tcp.mss", 1, ".0f"), ("cwnd", "tcp.cwnd", 1, ".0f"),
    ("client cores", "client.cpu_cores", 1, ".2f"), ("server cores", "server.cpu_cores", 1, ".2f"),
    ("disk %", "server.disk_busy", 100, ".0f"),
)  # fmt: skip
WIFI = (  # shown where a link was one
    ("client Wi-Fi Mbit/s", "client.wifi_bits_per_s", 1e-6, ".0f"),
    ("client Wi-Fi dBm", "client.wifi_signal_dbm", 1, ".0f"),
    ("server Wi-Fi Mbit/s", "server.wifi_bits_per_s", 1e-6, ".0f"),
    ("server Wi-Fi dBm", "server.wifi_signal_dbm", 1, ".0f"),
)


def proof(some: pd.DataFrame) -> TextTable:
    """Medians of what both hosts counted, one line a protocol, tool, direction and setting of the link."""
    by = [*stats.POOLED, *LINK]
    counts = dataframe.observed(some, _NUMBERS)
    numbers = {str(name): pd.to_numeric(counts[name], errors="coerce") for name in counts}
    shown = [*COLUMNS, *(column for column in WIFI if column[1] in numbers)]
    groups = some[by].assign(**numbers).groupby(by, sort=False, observed=True)
    rows = []
    for medians, count in zip(stats.rows_of(groups.median().reset_index()), groups.size(), strict=True):
        where = f"{stats.row_label(medians)}, MTU {medians['mtu']}, TCP {stats.size_label(medians['tcp_space'])}"
        where += f", clients {medians['clients']}" if medians["clients"] != "1" else ""
        cells = [number(factor * medians.get(name, np.nan), style) for _, name, factor, style in shown]
        rows.append([where, *cells, str(count)])
    caption = (
        "Medians. On the wire: bytes beyond the payload, in its direction; headers: what TCP, IP and Ethernet make of "
        "it at the least. Resent, RTT, segment and cwnd: of the connection, as its sender saw it at the end. Cores: "
        "used by the host. Disk: the time that the server's busiest disk had something to do. Wi-Fi: what the radio "
        "said right after each transfer."
    )
    return TextTable(["", *(heading for heading, *_ in shown), "n"], rows, caption)


_NUMBERS = {name for _, name, *_ in (*COLUMNS, *WIFI)}


def remarks(some: pd.DataFrame) -> TextTable | None:
    """What the lab found odd in trials that count all the same; None where that is nothing."""
    remarks_of_trials = dataframe.observed(some, {"remarks"}).get("remarks", pd.Series(dtype=object)).dropna()
    rows = [
        [str(some.at[row, "trial_id"]), str(remark)]
        for row, texts in remarks_of_trials.items()
        for remark in _texts(texts)
    ]
    if not rows:
        return None
    more = f"{len(rows) - MOST_REMARKS} more are in trials.jsonl." if len(rows) > MOST_REMARKS else ""
    return TextTable(["trial", "remark"], rows[:MOST_REMARKS], more, is_text=True)


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
