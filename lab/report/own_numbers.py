"""The numbers that tools measure themselves, that both hosts counted, and the capacity of file systems of the lab."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lab import stats
from lab.design.factors import ABSENT, BY_NAME, LINK, owner_of, rank
from lab.report.tables import TextTable, levels, number, varied_and_alike
from lab.results import dataframe

WAYS = ("read", "write")
MEASURING_TOOLS = ("fio", "frames", "metadata")
LASTING_STORES = ("ram", "disk")  # any other store is made for each trial
# heading, key of lab.results.observed.RequestsOneWay, factor, style
REQUESTS = (
    ("IOPS", "iops", 1, ".0f"), ("MB/s", "bytes_per_s", 1e-6, ".1f"), ("median ms", "p50_ms", 1, ".3f"),
    ("95 %", "p95_ms", 1, ".3f"), ("99 %", "p99_ms", 1, ".3f"), ("99.9 %", "p999_ms", 1, ".3f"),
    ("longest", "longest_ms", 1, ".1f"),
)  # fmt: skip
# heading, key of lab.results.observed.FrameFacts, how trials are put together, factor, style
FRAMES = (
    ("streams", "streams", "median", 1, ".0f"), ("frames", "frames", "sum", 1, ".0f"),
    ("late", "late", "sum", 1, ".0f"), ("worst ms late", "worst_late_s", "max", 1000, ".1f"),
    ("most streams", "most_streams", "median", 1, ".0f"), ("least", "most_streams", "min", 1, ".0f"),
)  # fmt: skip
CAPACITY = "store_capacity_bytes"
# Bytes that the devices of a store moved in the direction of the trial: key of lab.results.observed.Observed
ON_DEVICES = {"read": "store_read_bytes", "write": "store_written_bytes"}
DEVICE_BYTES = "device_bytes"  # for each byte of the payload
READ_FIRST = "read_first_bytes"  # read by a write, for each byte of the payload
READ_SOME = 0.01  # less is what ZFS reads of its own
OF_DEVICES = (
    "On devices: bytes that were written to the files or disks of a pool (of a read: read from them) for each byte of "
    "the payload, with parity, copies and padding. Files, and disks over files, share one disk: they tell what this "
    "costs in bytes and processor time, and not what several disks gain."
)
OF_READ_FIRST = (
    "Read first: bytes that a write read from there for each byte of the payload; of disks with sectors of 4 KiB that "
    "say 512 bytes these are sectors of which less was to be written."
)
# heading, key of the table, factor, style
CLIENTS = (
    ("until the last", "bytes_per_s", 1e-6, ".1f"), ("all active", "all_active_bytes_per_s", 1e-6, ".1f"),
    ("slowest", "slowest_bytes_per_s", 1e-6, ".1f"), ("median", "median_bytes_per_s", 1e-6, ".1f"),
    ("fastest", "fastest_bytes_per_s", 1e-6, ".1f"), ("Jain", "jain", 1, ".2f"), ("tail s", "tail_s", 1, ".2f"),
    ("skew ms", "skew_s", 1000, ".1f"),
)  # fmt: skip
RECORDED = ("slowest_bytes_per_s", "median_bytes_per_s", "fastest_bytes_per_s", "jain", "tail_s", "skew_s")
CLIENTS_CAPTION = (
    "Medians of n trials, MB/s. Until the last: all payloads, from the first start to the last end. All active: what "
    "crossed the interfaces of all clients while each was busy, headers included. Slowest, median and fastest: of the "
    "clients, each over its own time. Jain: 1 where all are as fast, 1/n where one has everything. Tail: from the "
    "first end to the last. Skew: from the first start to the last. "
)
MOST_REMARKS = 50
# heading, column of lab.results.observed, factor, style
COUNTED = (
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


def requests(some: pd.DataFrame) -> pd.DataFrame:
    """Medians over the trials of a case, one row a case and way: its levels, ``way``, REQUESTS by key, and ``n``."""
    parts = []
    for way in WAYS:
        counted = dataframe.observed_numbers(some, {f"requests.{way}.{key}": key for _, key, *_ in REQUESTS})
        parts.append(_by_case(some, counted, "median").assign(way=way))
    return pd.concat(parts, ignore_index=True)


def frames(some: pd.DataFrame) -> pd.DataFrame:
    """One row a case: its levels, FRAMES by heading, and ``n``."""
    counted = dataframe.observed_numbers(some, {f"frames.{key}": key for _, key, *_ in FRAMES})
    pooled = {how: _by_case(some, counted, how) for how in ("median", "sum", "max", "min")}
    table = pooled["median"][[*stats.factors_of(some.columns), "n"]]
    return table.assign(**{heading: pooled[how][key] for heading, key, how, *_ in FRAMES})


def capacity(some: pd.DataFrame) -> pd.DataFrame:
    """Medians for each case on a file system of the lab: levels, bytes_per_s, CAPACITY, DEVICE_BYTES, READ_FIRST, n."""
    counted = dataframe.observed_numbers(some, {name: name for name in (CAPACITY, *ON_DEVICES.values())})
    has_store = counted[CAPACITY].notna()
    is_read = some["direction"] == "read"
    on_devices = counted[ON_DEVICES["read"]].where(is_read, counted[ON_DEVICES["write"]])
    numbers = {
        CAPACITY: counted[CAPACITY], "bytes_per_s": some["bytes_per_s"].where(has_store),
        DEVICE_BYTES: (on_devices / some["size_bytes"]).where(has_store),
        READ_FIRST: (counted[ON_DEVICES["read"]] / some["size_bytes"]).where(has_store & ~is_read),
    }  # fmt: skip
    return _by_case(some, pd.DataFrame(numbers), "median")


def requests_table(some: pd.DataFrame) -> TextTable | None:
    """The rates and times of the requests of each case; None if no tool timed any."""
    caption = (
        "Medians over trials of what tools say of their own requests: rates without a tool's start and the flush, and "
        "times from submission to completion, of which so many percent were no longer. With metadata a request is one "
        "call: of a file, or to list a folder. "
    )
    return _table_of_cases(requests(some), REQUESTS, caption)


def frames_table(some: pd.DataFrame) -> TextTable | None:
    """How many frames of each case came late; None if no frames were played."""
    caption = (
        "Frames of all trials. Late: not there before the turn of the next; the worst of them says how much a player "
        "has to read ahead. Most streams: the highest number without a late frame, the median of the trials and their "
        "least. "
    )
    numbers = [(heading, heading, factor, style) for heading, _, _, factor, style in FRAMES]
    return _table_of_cases(frames(some), numbers, caption)


def capacity_table(some: pd.DataFrame) -> TextTable | None:
    """The capacity of each case's file system beside its speed; None if the lab made none."""
    table = capacity(some)
    numbers = [("MB/s", "bytes_per_s", 1e-6, ".1f"), ("usable MiB", CAPACITY, 2**-20, ".0f")]
    caption = (
        "Medians. Usable: what the file system had room for while it was empty. It was made anew for each trial, in "
        "files on the server. "
    )
    if table[DEVICE_BYTES].notna().any():
        numbers.append(("on devices", DEVICE_BYTES, 1, ".2f"))
        caption += f"{OF_DEVICES} "
    if table[READ_FIRST].gt(READ_SOME).any():
        numbers.append(("read first", READ_FIRST, 1, ".2f"))
        caption += f"{OF_READ_FIRST} "
    return _table_of_cases(table, numbers, caption, with_count=True)


def clients_table(some: pd.DataFrame) -> TextTable | None:
    """The speeds of several clients at once, together and each by itself; None if each trial had one client."""
    return _table_of_cases(clients(some), CLIENTS, CLIENTS_CAPTION, with_count=True)


def _table_of_cases(
    table: pd.DataFrame, numbers: Sequence[tuple[str, str, float, str]], caption: str, *, with_count: bool = False
) -> TextTable | None:
    if table.empty:
        return None
    varied, alike = varied_and_alike(table[list(stats.factors_of(table.columns))])
    rows = [
        [_case_name(row, varied), *(number(factor * row[key], style) for _, key, factor, style in numbers),
         *([str(row["n"])] if with_count else [])]
        for row in stats.rows_of(table)
    ]  # fmt: skip
    headings = ["", *(heading for heading, *_ in numbers), *(["n"] if with_count else [])]
    return TextTable(headings, rows, caption + alike)


def columns(trials: pd.DataFrame) -> pd.DataFrame:
    """The numbers of these tables for every trial, a column each; none for a run of other tools and stores."""
    paths: list[str] = []
    if trials["tool"].isin(MEASURING_TOOLS).any():
        paths += [f"requests.{way}.{key}" for way in WAYS for _, key, *_ in REQUESTS]
        paths += dict.fromkeys(f"frames.{key}" for _, key, *_ in FRAMES)
    if not trials["store"].isin(LASTING_STORES).all():
        paths += [CAPACITY, *ON_DEVICES.values()]
    if not paths:
        return pd.DataFrame(index=trials.index)
    return dataframe.observed_numbers(trials, {path: f"observed.{path}" for path in paths})


def _by_case(some: pd.DataFrame, counted: pd.DataFrame, how: str) -> pd.DataFrame:
    """One row a case with any number: its levels, the numbers put together, and how many trials had one.

    Rows are in the order of the levels, a baseline first, because the order of the trials is drawn by lot.
    """
    by = list(stats.factors_of(some.columns))
    having = counted.notna().any(axis=1)
    if not having.any():  # as in most runs, and to group no rows takes long
        return some.loc[having, by].assign(**counted[having], n=0).reset_index(drop=True)
    groups = some.loc[having, by].assign(**counted[having]).groupby(by, sort=False, observed=True)
    table = groups.agg(how).assign(n=groups.size()).reset_index()
    baselines = {name: BY_NAME[name].baseline for name in by if name in BY_NAME}  # an option has none
    ranks = [
        [(name not in baselines or row[name] != baselines[name], rank(str(row[name]))) for name in by]
        for row in stats.rows_of(table)
    ]
    return table.iloc[sorted(range(len(table)), key=ranks.__getitem__)].reset_index(drop=True)


def _case_name(row: stats.Row, varied: Sequence[str]) -> str:
    """A case in words: protocol, tool, direction, the way of its requests, and what varies; options of a store last."""
    varied = [name for name in varied if row[name] != ABSENT]
    options = [(owner_of(name), f"{name.partition('.')[2]} {row[name]}") for name in varied if owner_of(name)]
    of_tool, of_store = ([text for owner, text in options if (owner == row["store"]) is last] for last in (False, True))
    others = levels(row, [name for name in varied if not owner_of(name)])
    way = row.get("way", row["direction"])
    other_way = [f"its {way}s"] if way != row["direction"] else []
    return ", ".join([stats.row_label(row), *other_way, *of_tool, *others, *of_store])


def clients(some: pd.DataFrame) -> pd.DataFrame:
    """Medians over the trials of a case, one row a case of several clients: its levels, CLIENTS by key, and ``n``."""
    keys = (*RECORDED, "all_active_s", "all_active_bytes")
    counted = dataframe.observed_numbers(some, {f"together.{key}": key for key in keys})
    counted["all_active_bytes_per_s"] = counted.pop("all_active_bytes") / counted.pop("all_active_s")
    counted["bytes_per_s"] = some["bytes_per_s"].where(counted["jain"].notna())
    return _by_case(some, counted, "median")


def counted_table(some: pd.DataFrame) -> TextTable:
    """Medians of what both hosts counted, one line a protocol, tool, direction and setting of the link."""
    by = [*stats.POOLED, *LINK]
    counts = dataframe.observed(some, {name for _, name, *_ in (*COUNTED, *WIFI)})
    numbers = {str(name): pd.to_numeric(counts[name], errors="coerce") for name in counts}
    shown = [*COUNTED, *(column for column in WIFI if column[1] in numbers)]
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


def remarks(some: pd.DataFrame) -> TextTable | None:
    """Odd facts that the lab noted in trials that count all the same; None if there are none."""
    remarks_of_trials = dataframe.observed(some, {"remarks"}).get("remarks", pd.Series(dtype=object)).dropna()
    rows = [
        [str(some.at[row, "trial_id"]), remark]
        for row, texts in remarks_of_trials.items()
        for remark in (texts if isinstance(texts, list) else [])
        if isinstance(remark, str)
    ]
    if not rows:
        return None
    more = f"{len(rows) - MOST_REMARKS} more are in trials.jsonl." if len(rows) > MOST_REMARKS else ""
    return TextTable(["trial", "remark"], rows[:MOST_REMARKS], more, is_text=True)
