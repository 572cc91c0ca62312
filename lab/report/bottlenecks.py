"""The tables of what limited each case: limits, the stages from disk to tool, and the store by itself."""

from collections import Counter

import numpy as np
import pandas as pd

from lab import stats
from lab.design.factors import ABSENT, OPTIONS
from lab.report.tables import TextTable, between, levels, number, row_with_levels, varied_and_alike
from lab.stats import bottleneck
from lab.stats.stages import DISK, LINK, PROTOCOL, SERVER, STAGES, STORE, TOOL, UNFLUSHED
from lab.stats.statistics import PooledStatistics
from lab.stats.store_numbers import BYTES, store_columns
from lab.stats.time_budget import SHORT_S

NAMES = {
    DISK: "disk", STORE: "store", SERVER: "server", LINK: "link", PROTOCOL: "protocol", UNFLUSHED: "before flush",
    TOOL: "tool",
}  # fmt: skip
BY_ITSELF = STAGES[: STAGES.index(PROTOCOL)]
MOST_ROWS = 200  # in a report; JSON has all cases of a large sweep
SHOTS = {
    ("dd", "write"): "dd: written and flushed",
    ("dd", "read"): "dd: read, caches dropped",
    ("devices", "write"): "the devices meanwhile: written",
    ("devices", "read"): "the devices meanwhile: read",
    ("memory", "write"): "dd: written, not flushed",
    ("memory", "read"): "dd: read again, from memory",
    ("fio", "read"): "fio: 4 KiB at random, read",
    ("fio", "write"): "fio: 4 KiB at random, written",
    ("bonnie++", "write_char"): "bonnie++: written byte by byte",
    ("bonnie++", "write_block"): "bonnie++: written in blocks",
    ("bonnie++", "rewrite"): "bonnie++: read and written again",
    ("bonnie++", "read_char"): "bonnie++: read byte by byte",
    ("bonnie++", "read_block"): "bonnie++: read in blocks",
    ("bonnie++", "seeks"): "bonnie++: random seeks",
    ("bonnie++", "create"): "bonnie++: files made, in order",
    ("bonnie++", "stat"): "bonnie++: files looked at, in order",
    ("bonnie++", "delete"): "bonnie++: files removed, in order",
    ("bonnie++", "random_create"): "bonnie++: files made, in no order",
    ("bonnie++", "random_stat"): "bonnie++: files looked at, in no order",
    ("bonnie++", "random_delete"): "bonnie++: files removed, in no order",
}


def limits_table(verdicts: pd.DataFrame) -> TextTable:
    """One line a case: what limited it, what is left of that, and why (:mod:`lab.stats.bottleneck`)."""
    judged = stats.rows_of(verdicts)
    factors = [name for name in bottleneck.CASE if name != "options"]
    cases = pd.DataFrame([{**{name: row[name] for name in factors}, **OPTIONS, **row["options"]} for row in judged])
    cases = cases.fillna(ABSENT)
    varied, alike = varied_and_alike(cases)
    rows = [
        [row_with_levels(case, varied), row["limited_by"], row["grade"], number(100 * row["headroom"], ".0f", " %"),
         str(row["n"]), row["evidence"]]
        for row, case in zip(judged, stats.rows_of(cases), strict=True)
    ]  # fmt: skip
    count = int((verdicts["elapsed_s"] < SHORT_S).sum())
    short = (
        f"{count} of {len(verdicts)} cases took less than {SHORT_S:g} s a trial: their start and end weigh more than "
        "in larger files. "
    )
    caption = (
        "What limited each case. Headroom: what is left of it (of the link, where time was lost). n: trials it rests "
        f"on. {short if count else ''}{alike}"
    )
    return TextTable(["", "limited by", "grade", "headroom", "n", "evidence"], rows, caption, is_text=True)


def limits_over_runs(pooled: PooledStatistics) -> TextTable:
    """One line a case and limit that was found in any of many runs."""
    limits, count = pooled.limits, pooled.run_count
    varied, alike = varied_and_alike(limits.drop(columns=["limited_by", "runs", "certain", "headroom", "evidence"]))
    rows = [
        [row_with_levels(row, varied), row["limited_by"], str(row["runs"]), str(row["certain"]),
         number(100 * row["headroom"], ".0f", " %"), row["evidence"]]
        for row in stats.rows_of(limits)
    ]  # fmt: skip
    lacking = f"{pooled.unjudged} of {count} runs were added by an older lab, which kept no limits. "
    caption = (
        "What limited each case, as each run by itself says: in how many runs, and in how many for certain. Headroom: "
        f"what is left of it, the median. Evidence: that of the newest run. {lacking if pooled.unjudged else ''}{alike}"
    )
    return TextTable(["", "limited by", "runs", "certain", "headroom", "evidence"], rows, caption, is_text=True)


def count_limits(verdicts: pd.DataFrame) -> str:
    """How many cases each limit was found in, and what would help, in sentences."""
    counts = Counter(verdicts["limited_by"])
    counted_limits = [f"{limit} {count}" for limit, count in counts.most_common()]
    helps = [f"Where it is {limit}, {advice}." for limit in counts if (advice := bottleneck.remedy(limit))]
    return f"Of {len(verdicts)} cases: {', '.join(counted_limits)}. {' '.join(helps)}" if counted_limits else ""


def narrowest(row: stats.Row) -> str:
    """The stage that carries least by itself, or empty. The disk is none: its devices could move more than they did."""
    measured = [stage for stage in BY_ITSELF if stage != DISK and not np.isnan(row[stage])]
    return min(measured, key=lambda stage: float(row[stage]), default="")


def stages_table(table: pd.DataFrame) -> TextTable:
    """The stages of :func:`lab.stats.stages.waterfall`, with the narrowest one and how much of it was reached."""
    shown = [stage for stage in STAGES if table[stage].notna().any()]
    varied, alike = varied_and_alike(table[[name for name in table.columns if name not in STAGES]])
    rows = []
    for row in stats.rows_of(table)[:MOST_ROWS]:
        least = narrowest(row)
        reached = number(100 * row[TOOL] / row[least], ".0f", " %") if least else "–"
        speeds = [number(row[stage], ".1f") for stage in shown]
        rows.append([row_with_levels(row, varied), *speeds, NAMES.get(least, "–"), reached])
    more = f" {len(table) - MOST_ROWS} more cases are in the JSON." if len(table) > MOST_ROWS else ""
    flush = "before flush: this one until it ended, for what the client flushes then; " if UNFLUSHED in shown else ""
    caption = (
        "MB/s (10⁶), medians. Disk: what its devices moved while the store was measured; store: dd on the server; "
        f"server: dd there without the disk; link: iperf3; protocol: its fastest tool; {flush}tool: this one. "
        f"Narrowest: of store, server and link; reached: the tool's share of that. {alike}{more}"
    )
    return TextTable(["", *(NAMES[stage] for stage in shown), "narrowest", "reached"], rows, caption)


def store_table(numbers: pd.DataFrame) -> TextTable | None:
    """The numbers of :func:`lab.stats.store_numbers.store_numbers`; None if no store was measured by itself."""
    if numbers.empty:
        return None
    varied = [name for name in store_columns(numbers) if numbers[name].nunique() > 1]
    rows = []
    for row in stats.rows_of(numbers):
        marks = [*levels(row, varied), *(["cached"] if row["cached"] > 0 else [])]
        name = SHOTS[row["tool"], row["test"]]
        rows.append([f"{name} ({', '.join(marks)})" if marks else name, *_store_cells(row)])
    caption = (
        "On the server, without a network, once a block. MB/s are of 10⁶ bytes; /s are requests, seeks or files. "
        "Devices: what the disks moved while dd wrote or read, where they are counted: less than dd is compression, "
        "more is what the file system adds, or somebody else. Longest: what the longest operation took. CPU: of one "
        "core, as the tool says."
    )
    if (numbers["too_short"] > 0).any():
        caption += " Too short: bonnie++ was done within half a second, and gives no number."
    if (numbers["cached"] > 0).any():
        caption += (
            " Cached: the file of bonnie++ is less than twice the server's memory, so these are numbers of memory as "
            "much as of the disk."
        )
    return TextTable(["", "median", "least … most", "CPU %", "longest ms", "n"], rows, caption)


def _store_cells(row: stats.Row) -> list[str]:
    factor, unit, style = (1e-6, " MB/s", ".1f") if row["unit"] == BYTES else (1, " /s", ".0f")
    numbers = row["n"] - row["too_short"]
    return [
        number(factor * row["median"], style, unit) if numbers else "too short",
        between(factor * row["least"], factor * row["most"], style),
        number(100 * row["cpu"], ".0f"), number(row["longest_ms"], ".1f"),
        str(row["n"]) if numbers in (0, row["n"]) else f"{numbers} of {row['n']}",
    ]  # fmt: skip
