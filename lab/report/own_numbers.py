"""What tools measure of themselves, what both hosts counted, and what file systems of the lab have room for."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lab import stats
from lab.design.factors import ABSENT, BY_NAME, LINK, owner_of, rank
from lab.report.tables import TextTable, levels, number, varied_and_alike
from lab.results import dataframe

WAYS = ("read", "write")
MEASURING_TOOLS = ("fio", "frames", "metadata")
PLACES_THAT_ARE_THERE = ("ram", "disk")  # any other store is made for each trial
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
READ_FIRST = "read_first_bytes"  # the same, of a write: what had to be read
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
        paths = {f"requests.{way}.{key}": key for _, key, *_ in REQUESTS}
        counted = observed_numbers(some, list(paths)).rename(columns=paths)
        parts.append(by_case(some, counted, "median").assign(way=way))
    return pd.concat(parts, ignore_index=True)


def frames(some: pd.DataFrame) -> pd.DataFrame:
    """One row a case: its levels, FRAMES by heading, and ``n``."""
    paths = {f"frames.{key}": key for _, key, *_ in FRAMES}
    counted = observed_numbers(some, list(paths)).rename(columns=paths)
    by_way = {how: by_case(some, counted, how) for how in dict.fromkeys(how for *_, how, _, _ in FRAMES)}
    table = by_way["median"][[*stats.factors_of(some.columns), "n"]]
    return table.assign(**{heading: by_way[how][key] for heading, key, how, *_ in FRAMES})


def capacity(some: pd.DataFrame) -> pd.DataFrame:
    """Medians over the trials of a case on a file system of the lab's: its levels, bytes per second, CAPACITY,
    DEVICE_BYTES, READ_FIRST, and ``n``.
    """
    counted = observed_numbers(some, [CAPACITY, *ON_DEVICES.values()])
    has_store = counted[CAPACITY].notna()
    is_read = some["direction"] == "read"
    on_devices = counted[ON_DEVICES["read"]].where(is_read, counted[ON_DEVICES["write"]])
    numbers = {
        CAPACITY: counted[CAPACITY],
        "bytes_per_s": some["bytes_per_s"].where(has_store),
        DEVICE_BYTES: (on_devices / some["size_bytes"]).where(has_store),
        READ_FIRST: (counted[ON_DEVICES["read"]] / some["size_bytes"]).where(has_store & ~is_read),
    }
    return by_case(some, pd.DataFrame(numbers), "median")


def requests_table(some: pd.DataFrame) -> TextTable | None:
    """What the requests of each case came to; None where no tool timed any."""
    caption = (
        "Medians over trials of what tools say of their own requests: rates without a tool's start and the flush, and "
        "times from submission to completion, of which so many percent were no longer. With metadata a request is one "
        "call: of a file, or to list a folder. "
    )
    return _table_of_cases(requests(some), REQUESTS, caption)


def frames_table(some: pd.DataFrame) -> TextTable | None:
    """What became of the frames of each case; None where none were played."""
    caption = (
        "Frames of all trials. Late: not there before the turn of the next; the worst of them says how much a player "
        "has to read ahead. Most streams: the highest number without a late frame, the median of the trials and their "
        "least. "
    )
    numbers = [(heading, heading, factor, style) for heading, _, _, factor, style in FRAMES]
    return _table_of_cases(frames(some), numbers, caption)


def capacity_table(some: pd.DataFrame) -> TextTable | None:
    """What each case's file system has room for, beside its speed; None where the lab made none."""
    table = capacity(some)
    of_devices = [(DEVICE_BYTES, "on devices", OF_DEVICES)] if table[DEVICE_BYTES].notna().any() else []
    of_devices += [(READ_FIRST, "read first", OF_READ_FIRST)] if table[READ_FIRST].gt(READ_SOME).any() else []
    caption = (
        "Medians. Usable: what the file system had room for while it was empty. It was made anew for each trial, in "
        "files on the server. "
    )
    numbers = [("MB/s", "MB_per_s", 1, ".1f"), ("usable MiB", CAPACITY, 2**-20, ".0f")]
    numbers += [(heading, key, 1, ".2f") for key, heading, _ in of_devices]
    caption += "".join(f"{about} " for *_, about in of_devices)
    return _table_of_cases(table.assign(MB_per_s=table["bytes_per_s"] / 1e6), numbers, caption, with_count=True)


def clients_table(some: pd.DataFrame) -> TextTable | None:
    """What several clients at once got, all together and each by itself; None for a run of one client at a time."""
    return _table_of_cases(clients(some), COLUMNS, CAPTION, with_count=True)


def _table_of_cases(
    table: pd.DataFrame, numbers: Sequence[tuple[str, str, float, str]], caption: str, *, with_count: bool = False
) -> TextTable | None:
    """One line a case; of each number its heading, column, factor and style. None without a case."""
    if table.empty:
        return None
    varied, alike = varied_and_alike(factors_only(table))
    rows = [
        [
            case_name(row, varied, row.get("way", "")),
            *(number(factor * row[key], style) for _, key, factor, style in numbers),
            *([str(row["n"])] if with_count else []),
        ]
        for row in stats.rows_of(table)
    ]
    headings = ["", *(heading for heading, *_ in numbers), *(["n"] if with_count else [])]
    return TextTable(headings, rows, caption + alike)


def columns(trials: pd.DataFrame) -> pd.DataFrame:
    """The same numbers of every trial, a column each by its path in it; none for a run of other tools and stores."""
    paths: list[str] = []
    if trials["tool"].isin(MEASURING_TOOLS).any():
        paths += [f"requests.{way}.{key}" for way in WAYS for _, key, *_ in REQUESTS]
        paths += dict.fromkeys(f"frames.{key}" for _, key, *_ in FRAMES)
    if not trials["store"].isin(PLACES_THAT_ARE_THERE).all():
        paths += [CAPACITY, *ON_DEVICES.values()]
    if not paths:
        return pd.DataFrame(index=trials.index)
    return observed_numbers(trials, paths).rename(columns=lambda path: f"observed.{path}")


def observed_numbers(trials: pd.DataFrame, paths: Sequence[str]) -> pd.DataFrame:
    """These numbers of each trial, a column each by its path; NaN where it has none."""
    counted = dataframe.observed(trials, paths)
    nothing = pd.Series(float("nan"), index=trials.index)
    numbers = {path: pd.to_numeric(counted.get(path, nothing), errors="coerce") for path in paths}
    return pd.DataFrame(numbers, index=trials.index)


def by_case(some: pd.DataFrame, counted: pd.DataFrame, how: str) -> pd.DataFrame:
    """One row a case that has any of the numbers: its levels, the numbers put together, and how many trials had one.

    In the order of the levels: that of the trials is drawn by lot.
    """
    by = list(stats.factors_of(some.columns))
    having = counted.notna().any(axis=1)
    if not having.any():  # as in most runs, and to group no rows takes long
        return some.loc[having, by].assign(**counted[having], n=0).reset_index(drop=True)
    groups = some.loc[having, by].assign(**counted[having]).groupby(by, sort=False, observed=True)
    table = groups.agg(how).assign(n=groups.size()).reset_index()
    ranks = [[_place(name, row[name]) for name in by] for row in stats.rows_of(table)]
    return table.iloc[sorted(range(len(table)), key=ranks.__getitem__)].reset_index(drop=True)


def _place(name: str, level: stats.Level) -> tuple[bool, tuple[bool, tuple[int, ...], str]]:
    """What the levels of a factor are sorted by: its baseline first, such as a write."""
    factor = BY_NAME.get(name)  # options of tools and stores have none
    return factor is None or level != factor.baseline, rank(str(level))


def factors_only(table: pd.DataFrame) -> pd.DataFrame:
    """The levels of its cases."""
    return table[list(stats.factors_of(table.columns))]


def case_name(row: stats.Row, varied: Sequence[str], way: str = "") -> str:
    """A case in words: protocol, tool, direction, the way of its requests where that is another, and what varies.

    The options of the store stand behind it.
    """
    varied = [name for name in varied if row[name] != ABSENT]
    options = [(owner_of(name), f"{name.partition('.')[2]} {row[name]}") for name in varied if owner_of(name)]
    own, of_store = ([text for owner, text in options if (owner == row["store"]) is last] for last in (False, True))
    others = levels(row, [name for name in varied if not owner_of(name)])
    other_way = [f"its {way}s"] if way and way != row["direction"] else []
    return ", ".join([stats.row_label(row), *other_way, *own, *others, *of_store])


def clients(some: pd.DataFrame) -> pd.DataFrame:
    """Medians over the trials of a case, one row a case of several clients: its levels, COLUMNS by key, and ``n``."""
    paths = {f"{PART}.{key}": key for key in (*RECORDED, "all_active_s", "all_active_bytes")}
    counted = observed_numbers(some, list(paths)).rename(columns=paths)
    counted["all_active_bytes_per_s"] = counted.pop("all_active_bytes") / counted.pop("all_active_s")
    counted["bytes_per_s"] = some["bytes_per_s"].where(counted["jain"].notna())
    return by_case(some, counted, "median")


def proof(some: pd.DataFrame) -> TextTable:
    """Medians of what both hosts counted, one line a protocol, tool, direction and setting of the link."""
    by = [*stats.POOLED, *LINK]
    counts = dataframe.observed(some, _NUMBERS)
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


_NUMBERS = {name for _, name, *_ in (*COUNTED, *WIFI)}


def remarks(some: pd.DataFrame) -> TextTable | None:
    """What the lab found odd in trials that count all the same; None where that is nothing."""
    remarks_of_trials = dataframe.observed(some, {"remarks"}).get("remarks", pd.Series(dtype=object)).dropna()
    rows = [
        [str(some.at[row, "trial_id"]), str(remark)]
        for row, texts in remarks_of_trials.items()
        for remark in _remarks_in(texts)
    ]
    if not rows:
        return None
    more = f"{len(rows) - MOST_REMARKS} more are in trials.jsonl." if len(rows) > MOST_REMARKS else ""
    return TextTable(["trial", "remark"], rows[:MOST_REMARKS], more, is_text=True)


def _remarks_in(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
