"""What limited each case, as a report shows it."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lab import stats
from lab.design.factors import ABSENT, OPTIONS
from lab.report.tables import TextTable, between, levels, number, varied_and_alike
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
MOST_ROWS = 200  # of a report: the cases of a large sweep are in its JSON
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
MB = 10**6


def limits_table(verdicts: pd.DataFrame) -> TextTable:
    """One line a case: what it was limited by, what is left of that, and why (:mod:`lab.stats.bottleneck`)."""
    judged = stats.rows_of(verdicts)
    cases = pd.DataFrame([_settings(row) for row in judged]).fillna(ABSENT)
    varied, alike = varied_and_alike(cases)
    rows = [
        [
            ", ".join([stats.row_label(row), *levels(case, varied)]), row["limited_by"], row["grade"],
            number(100 * row["headroom"], ".0f", " %"), str(row["n"]), row["evidence"],
        ]
        for row, case in zip(judged, stats.rows_of(cases), strict=True)
    ]  # fmt: skip
    caption = (
        "What limited each case. Headroom: what is left of it (of the link, where time was lost). n: trials it rests "
        f"on. {_short_trials(verdicts)}{alike}"
    )
    return TextTable(["", "limited by", "grade", "headroom", "n", "evidence"], rows, caption, is_text=True)


def limits_over_runs(pooled: PooledStatistics) -> TextTable:
    """One line a case and limit that was found in any of many runs."""
    limits, count = pooled.limits, pooled.run_count
    varied, alike = varied_and_alike(limits.drop(columns=["limited_by", "runs", "certain", "headroom", "evidence"]))
    rows = [
        [
            ", ".join([stats.row_label(row), *levels(row, varied)]), row["limited_by"], str(row["runs"]),
            str(row["certain"]), number(100 * row["headroom"], ".0f", " %"), row["evidence"],
        ]
        for row in stats.rows_of(limits)
    ]  # fmt: skip
    lacking = f"{pooled.unjudged} of {count} runs were added by an older lab, which kept no limits. "
    caption = (
        "What limited each case, as each run by itself says: in how many runs, and in how many for certain. Headroom: "
        f"what is left of it, the median. Evidence: that of the newest run. {lacking if pooled.unjudged else ''}{alike}"
    )
    return TextTable(["", "limited by", "runs", "certain", "headroom", "evidence"], rows, caption, is_text=True)


def _short_trials(verdicts: pd.DataFrame) -> str:
    """A warning of trials so short that what starts and ends them counts for much; empty where there are none."""
    short = int((verdicts["elapsed_s"] < SHORT_S).sum())
    if not short:
        return ""
    return (
        f"{short} of {len(verdicts)} cases took less than {SHORT_S:g} s a trial: their start and end weigh more than "
        "in larger files. "
    )


def count_limits(verdicts: pd.DataFrame) -> str:
    """How many cases each limit was found in, and what would help, in sentences."""
    counts = Counter(verdicts["limited_by"])
    counted_limits = [f"{limit} {count}" for limit, count in counts.most_common()]
    helps = [f"Where it is {limit}, {advice}." for limit in counts if (advice := bottleneck.remedy(limit))]
    return f"Of {len(verdicts)} cases: {', '.join(counted_limits)}. {' '.join(helps)}" if counted_limits else ""


def _settings(row: stats.Row) -> stats.Row:
    """A case as one row of a summary has it."""
    return {**{name: row[name] for name in bottleneck.CASE if name != "options"}, **OPTIONS, **row["options"]}


def narrowest(row: stats.Row) -> str:
    """The stage that carries least by itself; empty if none was measured.

    The disk is none of them: what its devices move for the store is not what they could.
    """
    measured = [stage for stage in BY_ITSELF if stage != DISK and not np.isnan(row[stage])]
    return min(measured, key=lambda stage: float(row[stage]), default="")


def waterfall_table(table: pd.DataFrame) -> TextTable:
    """What :func:`lab.stats.stages.waterfall` says, with the narrowest stage and how much of it was reached."""
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


def store_table(numbers: pd.DataFrame) -> TextTable | None:
    """What :func:`lab.stats.store_numbers.store_numbers` says; None where no store was measured by itself."""
    if numbers.empty:
        return None
    varied = [name for name in store_columns(numbers) if numbers[name].nunique() > 1]
    rows = [[_name(row, varied), *_cells(row)] for row in stats.rows_of(numbers)]
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


def _name(row: stats.Row, varied: Sequence[str]) -> str:
    name = SHOTS[row["tool"], row["test"]]
    marks = levels(row, varied)
    marks += ["cached"] if row["cached"] > 0 else []
    return f"{name} ({', '.join(marks)})" if marks else name


def _cells(row: stats.Row) -> list[str]:
    factor, unit, style = (1 / MB, " MB/s", ".1f") if row["unit"] == BYTES else (1, " /s", ".0f")
    numbers = row["n"] - row["too_short"]
    return [
        number(factor * row["median"], style, unit) if numbers else "too short",
        between(factor * row["least"], factor * row["most"], style),
        number(100 * row["cpu"], ".0f"), number(row["longest_ms"], ".1f"),
        str(row["n"]) if numbers in (0, row["n"]) else f"{numbers} of {row['n']}",
    ]  # fmt: skip
