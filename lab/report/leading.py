"""What stands for a run where there is room for one figure and one table: effects, or speeds where there are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lab import stats
from lab.design.case import is_of_names
from lab.report.analysis import Analysis
from lab.report.tables import TextTable, between, change, files, levels, number, varied_and_alike

MOST_ROWS = 12
EFFECTS, SPEEDS = "effects", "throughput"


@dataclass(frozen=True)
class Leading:
    """A figure by its name, the title of both, and the most important rows of its table; ``more`` are left out."""

    figure: str
    title: str
    table: TextTable
    more: int = 0


def leading(run: Analysis) -> Leading:
    """The effects with their intervals, the largest first; where there are none the fastest cases of each direction."""
    rows = overall_effects(run)
    if rows:
        return _effects(run.effects, rows)
    cases = fastest_first(run)
    if len(cases):
        return _speeds(cases)
    if len(run.file_rates):
        table = files(run.file_rates)
        shown = TextTable(table.headings, table.rows[:MOST_ROWS], table.caption)
        return Leading(SPEEDS, "A file", shown, len(table.rows) - len(shown.rows))
    return Leading(SPEEDS, "How fast it is", TextTable([], [], "No transfer counts."))


def overall_effects(run: Analysis) -> list[stats.Row]:
    """What each level changes over all cases, the largest first; those that have an interval."""
    overall = run.effects[stats.comparisons(run.effects)[1]].dropna(subset="low_pct")
    return sorted(stats.rows_of(overall), key=lambda row: -abs(np.log(row["ratio"])))


def fastest_first(run: Analysis) -> pd.DataFrame:
    """The cases that have a speed and moved no names alone, by direction, the fastest of each first."""
    cases = run.summary[run.summary["n"] > 0]
    cases = cases[~cases["workload"].map(is_of_names).astype(bool)]
    directions = [rows for _, rows in cases.groupby("direction", sort=False, observed=True)]
    ordered = [rows.sort_values("median_MB_per_s", ascending=False, kind="stable") for rows in directions]
    return pd.concat(ordered) if ordered else cases


def case_label(row: stats.Row, cases: pd.DataFrame) -> str:
    """A case by whatever varies among these, such as ``SMB cp write, TCP 512 KiB``."""
    varied, _ = varied_and_alike(cases[cases.columns[: cases.columns.get_loc("n")]])
    return ", ".join([stats.row_label(row), *levels(row, [name for name in varied if name not in stats.POOLED])])


def _effects(table: pd.DataFrame, overall: list[stats.Row]) -> Leading:
    shown, rows, shown_effects = overall[:MOST_ROWS], [], 0
    of_cases = stats.rows_of(table[~stats.comparisons(table)[1]].dropna(subset="change_pct"))
    for row in shown:
        compared = [of_case for of_case in of_cases if _compared(of_case) == _compared(row)]
        same = sorted(compared, key=lambda of_case: float(of_case["ratio"]))
        ends = [f"{change(end, 'change_pct')} ({stats.row_label(end)})" for end in (same[:1] + same[-1:])]
        shown_effects += 1 + min(len(same), 2)
        counted = f"{row['n_blocks']}/{row['n_pairs']}" if row["method"] == "pairs" else str(row["n_blocks"])
        interval = between(row["low_pct"], row["high_pct"], "+.1f")
        rows.append([stats.compared_label(row), change(row, "change_pct"), interval, *(ends or ["–", "–"]), counted])
    caption = (
        "Change of throughput in percent: over all cases, and in the case with the least and the most. n: "
        "blocks/pairs of trials that differ in this one setting. * is established: neither noise nor the number of "
        "comparisons explains it."
    )
    headings = ["", "change %", "95 % interval", "least", "most", "n"]
    return Leading(EFFECTS, "What each setting changes", TextTable(headings, rows, caption), len(table) - shown_effects)


def _compared(row: stats.Row) -> tuple[object, ...]:
    return row["factor"], row["baseline"], row["level"]


def _speeds(cases: pd.DataFrame) -> Leading:
    of_direction = MOST_ROWS // cases["direction"].nunique()
    shown = cases.groupby("direction", sort=False, observed=True).head(of_direction)
    rows = [
        [
            case_label(row, cases), number(row["median_MB_per_s"], ".1f"),
            between(row["low_MB_per_s"], row["high_MB_per_s"], ".1f"),
            number(100 * row["share_of_ceiling"], ".0f", " %"), str(row["n"]),
        ]
        for row in stats.rows_of(shown)
    ]  # fmt: skip
    _, alike = varied_and_alike(cases[cases.columns[: cases.columns.get_loc("n")]])
    caption = f"Medians of n good trials, the fastest first, and their share of the ceiling. {alike}"
    headings = ["", "MB/s", "95 % interval", "of ceiling", "n"]
    return Leading(SPEEDS, "What is fastest", TextTable(headings, rows, caption), len(cases) - len(rows))
