"""The leading figure and table of a run: effects, or speeds if there are none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from lab import stats
from lab.base.untrusted import one_line
from lab.design.case import is_of_names
from lab.report.analysis import Analysis
from lab.report.markdown import TEMPLATE
from lab.report.tables import TextTable, between, change, counted, files, number, row_with_levels, varied_and_alike

MOST_ROWS = 12
EFFECTS, SPEEDS = "effects", "throughput"
COMPARED = ("factor", "baseline", "level")
WIDTH, LONGEST = 30, 44  # characters of the panel, and of a name
EIGHTHS = " ▏▎▍▌▋▊▉"
INDENT = "    "  # a block of code: there is no fence in it that a name could close


@dataclass(frozen=True)
class Leading:
    """A figure by its name, the title of both, and the most important rows of its table; ``more`` are left out."""

    figure: str
    title: str
    table: TextTable
    more: int = 0


def leading(run: Analysis) -> Leading:
    """The effects with their intervals, the largest first, or else the fastest cases of each direction."""
    if rows := overall_effects(run):
        return _effects(run.effects, rows)
    cases = fastest_first(run)
    if len(cases):
        return _speeds(cases)
    if len(run.file_rates):
        table = files(run.file_rates)
        shown = replace(table, rows=table.rows[:MOST_ROWS])
        return Leading(SPEEDS, "A file", shown, len(table.rows) - len(shown.rows))
    return Leading(SPEEDS, "How fast it is", TextTable([], [], "No transfer counts."))


def overall_effects(run: Analysis) -> list[stats.Row]:
    """The changes of levels over all cases that have an interval, the largest first."""
    overall = run.effects[stats.comparisons(run.effects)[1]].dropna(subset="low_pct")
    return sorted(stats.rows_of(overall), key=lambda row: -abs(np.log(row["ratio"])))


def fastest_first(run: Analysis) -> pd.DataFrame:
    """The cases that have a speed and moved not only names, by direction, the fastest of each first."""
    cases = run.summary[run.summary["n"] > 0]
    cases = cases[~cases["workload"].map(is_of_names).astype(bool)]
    directions = [rows for _, rows in cases.groupby("direction", sort=False, observed=True)]
    ordered = [rows.sort_values("median_MB_per_s", ascending=False, kind="stable") for rows in directions]
    return pd.concat(ordered) if ordered else cases


def _shown(cases: pd.DataFrame) -> pd.DataFrame:
    return cases.groupby("direction", sort=False, observed=True).head(MOST_ROWS // cases["direction"].nunique())


def case_label(row: stats.Row, cases: pd.DataFrame) -> str:
    """A case by what varies among these, such as ``SMB cp write, TCP 512 KiB``."""
    varied, _ = varied_and_alike(cases[cases.columns[: cases.columns.get_loc("n")]])
    return row_with_levels(row, varied)


def _effects(table: pd.DataFrame, overall: list[stats.Row]) -> Leading:
    shown, rows, shown_effects = overall[:MOST_ROWS], [], 0
    case_rows = stats.rows_of(table[~stats.comparisons(table)[1]].dropna(subset="change_pct"))
    for row in shown:
        compared = [case for case in case_rows if all(case[name] == row[name] for name in COMPARED)]
        same = sorted(compared, key=lambda case: float(case["ratio"]))
        ends = [f"{change(end, 'change_pct')} ({stats.row_label(end)})" for end in (same[:1] + same[-1:])]
        shown_effects += 1 + min(len(same), 2)
        first = [stats.compared_label(row), change(row, "change_pct"), between(row["low_pct"], row["high_pct"], "+.1f")]
        rows.append([*first, *(ends or ["–", "–"]), counted(row)])
    caption = (
        "Change of throughput in percent: over all cases, and in the case with the least and the most. n: "
        "blocks/pairs of trials that differ in this one setting. * is established: neither noise nor the number of "
        "comparisons explains it."
    )
    headings = ["", "change %", "95 % interval", "least", "most", "n"]
    return Leading(EFFECTS, "What each setting changes", TextTable(headings, rows, caption), len(table) - shown_effects)


def _speeds(cases: pd.DataFrame) -> Leading:
    rows = [
        [case_label(row, cases), number(row["median_MB_per_s"], ".1f"),
         between(row["low_MB_per_s"], row["high_MB_per_s"], ".1f"),
         number(100 * row["share_of_ceiling"], ".0f", " %"), str(row["n"])]
        for row in stats.rows_of(_shown(cases))
    ]  # fmt: skip
    _, alike = varied_and_alike(cases[cases.columns[: cases.columns.get_loc("n")]])
    caption = f"Medians of n good trials, the fastest first, and their share of the ceiling. {alike}"
    headings = ["", "MB/s", "95 % interval", "of ceiling", "n"]
    return Leading(SPEEDS, "What is fastest", TextTable(headings, rows, caption), len(cases) - len(rows))


def chart(lead: Leading, run: Analysis) -> str:
    """A line for each row of the leading figure, as a block of code; empty where there is nothing to draw."""
    lines = _effect_lines(overall_effects(run)[:MOST_ROWS]) if lead.figure == EFFECTS else _speed_lines(run)
    return "\n".join(f"{INDENT}{line}".rstrip() for line in lines)


def how_to_read(lead: Leading) -> str:
    """The meaning of the marks of the chart."""
    if lead.figure != EFFECTS:
        return "Each bar is the median of one case, the fastest of each direction first."
    return (
        "Each line is one setting over all cases: its change (●, or ○ where it is not established) and the 95 % "
        "interval, on an axis of ratios; │ or ┼ is no change."
    )


def _effect_lines(rows: Sequence[stats.Row]) -> list[str]:
    ends = np.log1p(np.array([[row[name] for name in ("low_pct", "change_pct", "high_pct")] for row in rows]) / 100)
    ends = np.clip(np.nan_to_num(ends, neginf=-9.0, posinf=9.0), -9.0, 9.0)  # a factor of 8000: beyond any share
    low, high = min(0.0, float(ends.min())), max(0.0, float(ends.max()))
    scale = (WIDTH - 1) / (high - low) if high > low else 0.0
    zero = round(-low * scale)
    names = _names([stats.compared_label(row) for row in rows])
    lines = []
    for name, row, places in zip(names, rows, np.rint((ends - low) * scale).astype(int), strict=True):
        # an interval without 0 does not touch it, however near it is
        if row["low_pct"] > 0:
            places = np.clip(places, min(zero + 1, WIDTH - 1), WIDTH - 1)
        elif row["high_pct"] < 0:
            places = np.clip(places, 0, max(zero - 1, 0))
        panel = [" "] * WIDTH
        panel[places[0] : places[2] + 1] = "─" * (places[2] + 1 - places[0])
        panel[zero] = "┼" if places[0] <= zero <= places[2] else "│"
        panel[places[1]] = "●" if row["established"] else "○"
        numbers = f"{number(row['change_pct'], '+.1f'):>7} % ({between(row['low_pct'], row['high_pct'], '+.1f')})"
        lines.append(f"{name}  {''.join(panel)}  {numbers}")
    return lines


def _speed_lines(run: Analysis) -> list[str]:
    cases = fastest_first(run)
    if cases.empty:
        return []
    rows = stats.rows_of(_shown(cases))
    speeds = [row["median_MB_per_s"] for row in rows]
    lines = []
    for name, speed in zip(_names([case_label(row, cases) for row in rows]), speeds, strict=True):
        whole, eighths = divmod(round(8 * WIDTH * speed / max(speeds)), 8)
        bar = "█" * whole + EIGHTHS[eighths].strip()
        lines.append(f"{name}  {bar:<{WIDTH}}  {number(speed, '6.1f')} MB/s")
    return lines


def _names(texts: Sequence[str]) -> list[str]:
    named = [TEMPLATE.sub("{ ", one_line(text, LONGEST)) for text in texts]
    width = max(map(len, named))
    return [f"{name:<{width}}" for name in named]
