"""The tables of a report as text: what every renderer starts from, so that they cannot disagree."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lab import stats
from lab.base.groups import grouped
from lab.base.untrusted import printable
from lab.design.case import is_of_names
from lab.design.factors import ABSENT, COLUMNS, NETWORK, owner_of
from lab.report.prose import FEWER_THAN_TWO, chance

WAYS = ("write", "read")
# The begin of a formula for a spreadsheet: of a cell, or after the end of one where semicolons or tabs part cells, as
# in many countries. Full-width signs count, too.
_FORMULA = r"(?=[\s\"']*[=+\-@\uff1d\uff0b\uff0d\uff20])"
_FORMULA_FIRST, _FORMULA_LATER = re.compile(_FORMULA), re.compile(rf"([;\t\n]){_FORMULA}")


@dataclass(frozen=True)
class TextTable:
    """A table as text; ``is_text``: its columns are words, not numbers; the first ``factors`` columns hold levels."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    is_text: bool = False
    factors: int = 0


def records(table: pd.DataFrame) -> list[dict[str, object]]:
    """A table as JSON values; null where there is no number."""
    values: list[dict[str, object]] = json.loads(table.to_json(orient="records", double_precision=15))
    return values


def comparison(summary: pd.DataFrame) -> TextTable:
    """Protocols and tools side by side, under each combination of settings that vary: like is compared with like."""
    if summary.empty:
        return TextTable([], [], "No transfer was tried.")
    summary = summary[~summary["workload"].map(is_of_names)]
    if summary.empty:
        return TextTable([], [], "Only names were moved: how many files a second is in the table of files.")
    headings = [heading for way in WAYS for heading in (f"{way} MB/s", "ceiling", "n")]
    varied, alike = varied_and_alike(summary[summary.columns[: summary.columns.get_loc("n")]])
    options = [name for name in varied if owner_of(name)]  # of one protocol or tool: the others do not have them
    shared = [name for name in varied if name not in options]
    rows = []
    for same in _grouped(summary, shared):
        # a line for each level: a terminal of 80 columns has no room for all in one
        rows += [[level, *[""] * len(headings)] for level in levels(same[0], shared)]
        rows += _by_direction(same, options)
    return TextTable(["", *headings], rows, f"Medians of n good trials each, and their share of the ceiling. {alike}")


def files(table: pd.DataFrame) -> TextTable:
    """The rates of a tree per file, for each combination of settings that vary; see :func:`lab.stats.file_rates`."""
    varied, alike = varied_and_alike(table[table.columns[: table.columns.get_loc("files")]])
    rows = []
    for row in stats.rows_of(table):
        cells = [
            number(row["files_per_s"], ".0f"), between(row["low_files_per_s"], row["high_files_per_s"], ".0f"),
            number(row["ms_per_file"], ".2f"), number(row["MB_per_s"], ".1f"),
            number(row["round_trips_per_file"], ".1f"), str(row["n"]),
        ]  # fmt: skip
        rows.append([row_with_levels(row, varied), *cells])
    names = "With metadata, MB/s are of names. " if (table["tool"] == "metadata").any() else ""
    caption = (
        f"Medians of {table['files'].max():,.0f} files a trial. Round trips: segments with data against the payload, "
        f"which each request or reply has one of or more; not of SSH. {names}{alike}"
    )
    return TextTable(["", "files/s", "95 % interval", "ms a file", "MB/s", "round trips a file", "n"], rows, caption)


def effects(table: pd.DataFrame) -> TextTable:
    """The change of each level: the overall row first, then one line a protocol, tool and direction."""
    rows = []
    for same in _grouped(table, ["factor", "baseline", "level"]):
        rows += [[f"{stats.compared_label(same[0])}:", *[""] * 4], *map(_effect_cells, same)]
    caption = (
        "Change of throughput in percent, mean over blocks of pairs that differ in this one setting. n: blocks/pairs. "
    )
    if (table["method"] == "model").any():
        caption += "n without pairs: a model of each block, for only a fraction of the grid was run. "
    headings = ["", "change %", "95 % interval", "moderated", "n"]
    return TextTable(headings, rows, caption + chance(table) if rows else "Nothing was varied.")


def interactions(table: pd.DataFrame) -> TextTable:
    """The change of one setting alone and on top of another, and their interaction."""
    rows = []
    for same in _grouped(table, ["factor", "baseline", "level", "with_factor", "with_baseline", "with_level"]):
        rows += [[f"{stats.compared_label(same[0])}:", *[""] * 5], *map(_interaction_cells, same)]
    caption = (
        "What the first setting changes, in percent, at the baseline of the second one (alone) and at its level (on "
        "top); interaction: on top over alone, less one. "
    )
    headings = ["", "alone %", "on top %", "interaction %", "95 % interval", "n"]
    return TextTable(headings, rows, caption + chance(table) if rows else FEWER_THAN_TWO)


def shares(variation: stats.Shares) -> TextTable:
    """The share of each term in the sum of squares, largest first; block and rest at the end."""
    table = variation.table
    last = table["term"].isin([stats.BLOCK, stats.REST])
    in_order = pd.concat([table[~last].sort_values("share", ascending=False, kind="stable"), table[last]])
    rows = [
        [stats.term_label(row["term"]), number(100 * row["share"], ".1f"), str(row["df"])]
        for row in stats.rows_of(in_order)
    ]
    complete = f"of {variation.blocks} blocks, {variation.used} have a good trial of every case"
    caption = f"Share of the sum of squares of log MB/s; {complete}{' and are used' if variation.used else ''}."
    return TextTable(["", "share %", "df"], rows, caption)


def shares_json(variation: stats.Shares) -> dict[str, object]:
    """The shares of the sum of squares, and the number of blocks behind them."""
    return {"blocks_used": variation.used, "blocks": variation.blocks, "terms": records(variation.table)}


def settings(table: pd.DataFrame) -> TextTable:
    """Every row of :func:`lab.stats.summary` or :func:`lab.stats.ceilings`, without the options that do not vary."""
    factors = list(table.columns[: table.columns.get_loc("n")])
    factors = [name for name in factors if name in COLUMNS or table[name].nunique() > 1]
    rows = []
    for row in stats.rows_of(table):
        named = [str(row[name]) if name == "protocol" else stats.level_label(name, row[name]) for name in factors]
        ends = ((row[f"{end}_MB_per_s"] for end in of) for of in (("min", "max"), ("low", "high")))
        shots = [number(100 * row[stats.LOWER_SHOT], ".0f", " %")] if stats.LOWER_SHOT in row else []
        rows.append([*named, *speed_cells(row), *(between(low, high, ".1f") for low, high in ends), *shots])
    headings = [*map(stats.factor_label, factors), "MB/s", "ceiling", "n", "min … max", "95 % interval"]
    if stats.LOWER_SHOT not in table:
        return TextTable(headings, rows, factors=len(factors))
    caption = "The larger of two shots a block; lower shot: the least share of it that the other one reached."
    return TextTable([*headings, "lower shot"], rows, caption, factors=len(factors))


def versus_table(table: pd.DataFrame, a: str, b: str) -> TextTable:
    """Run ``b`` over run ``a``: one row a protocol, tool and direction of :func:`lab.stats.two_runs.compare_all`."""
    rows = [
        [stats.row_label(row), *(number(row[f"MB_per_s_{run}"], ".1f") for run in "ab"), change(row, "change_pct"),
         between(row["low_pct"], row["high_pct"], "+.1f"), f"{row['n_a']}/{row['n_b']}"]
        for row in stats.rows_of(table)
    ]  # fmt: skip
    caption = (
        f"{b} over {a}: geometric means of blocks, of the cases that both tried. n: blocks of each. * is established."
    )
    return TextTable(["", "A MB/s", "B MB/s", "change %", "95 % interval", "n"], rows, caption)


def lost(trials: pd.DataFrame) -> TextTable:
    """Every void and failed trial, and why."""
    rows = not_ok(trials)
    return TextTable(list(rows.columns), rows.astype(str).to_numpy().tolist(), is_text=True)


def not_ok(trials: pd.DataFrame) -> pd.DataFrame:
    """The void and failed trials: which, and why."""
    return trials.loc[trials["status"] != "ok", ["trial_id", "case_id", "block", "status", "reason"]]


def setting_label(factor: str, level: stats.Level) -> str:
    """A level with its factor, such as ``MTU 9000``."""
    return f"{stats.factor_label(factor)} {stats.level_label(factor, level)}"


def levels(row: stats.Row, names: Iterable[str]) -> list[str]:
    """These factors of a row of the summary in words; a first level is left out, except of the network."""
    first = {"mtu": "MTU ", "tcp_space": "TCP ", "store": ""}
    return [
        f"{first.get(name, f'{stats.factor_label(name)} ')}{stats.level_label(name, row[name])}"
        for name in names
        if name in NETWORK or row[name] not in (stats.first_level(name), ABSENT)
    ]


def row_with_levels(row: stats.Row, varied: Sequence[str]) -> str:
    """Where a row holds, with the levels of factors that vary, such as ``SMB cp write, TCP 512 KiB``."""
    return ", ".join([stats.row_label(row), *levels(row, varied)])


def varied_and_alike(cases: pd.DataFrame) -> tuple[list[str], str]:
    """The factors that vary among cases, and a sentence on the others."""
    factors = [name for name in cases.columns if name not in stats.POOLED]
    having = {name: cases[name][cases[name] != ABSENT] for name in factors}
    varied = [name for name in factors if having[name].nunique() > 1]
    alike = [
        level
        for name in factors
        if name not in (*varied, "workload") and not having[name].empty  # the title tells the workload
        for level in levels({name: having[name].iloc[0]}, [name])
    ]
    return varied, f"All at {', '.join(alike)}." if alike else ""


def speed_cells(row: stats.Row) -> list[str]:
    """Median, share of the ceiling, and number of trials of a row of the summary."""
    tried = row["n"] + row["n_void"] + row["n_failed"]
    return [
        number(row["median_MB_per_s"], ".1f"), number(100 * row.get("share_of_ceiling", np.nan), ".0f", " %"),
        str(tried) if row["n"] == tried else f"{row['n']} of {tried}",
    ]  # fmt: skip


def number(value: float, style: str, unit: str = "") -> str:
    """A number, or a dash for NaN."""
    return "–" if np.isnan(value) else f"{value:{style}}{unit}"


def between(low: float, high: float, style: str) -> str:
    """An interval, or a dash for NaN."""
    return "–" if np.isnan(low) else f"{low:{style}} … {high:{style}}"


def change(row: stats.Row, name: str) -> str:
    """A change in percent, with the mark of an established one."""
    return number(row[name], "+.1f", "*" if row["established"] else "")


def _grouped(table: pd.DataFrame, by: Sequence[str]) -> list[list[stats.Row]]:
    """The rows that are alike in these columns. Pandas would take seconds for a thousand groups."""
    rows: list[stats.Row] = [*stats.rows_of(table)]
    return list(grouped((tuple(row[name] for name in by), row) for row in rows).values())


def _by_direction(rows: Sequence[stats.Row], options: Sequence[str]) -> list[list[str]]:
    lines: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        named = [f"{name.partition('.')[2]} {row[name]}" for name in options if row[name] != ABSENT]
        name = ", ".join([stats.row_label({key: row[key] for key in ("protocol", "tool")}), *named])
        lines.setdefault(name, {})[row["direction"]] = speed_cells(row)
    return [[name, *(cell for way in WAYS for cell in cells.get(way, ["–"] * 3))] for name, cells in lines.items()]


def _effect_cells(row: stats.Row) -> list[str]:
    intervals = [between(row[f"{kind}low_pct"], row[f"{kind}high_pct"], "+.1f") for kind in ("", "moderated_")]
    return [stats.row_label(row), change(row, "change_pct"), *intervals, counted(row)]


def counted(row: stats.Row) -> str:
    """The number of blocks of an effect, and of pairs of trials if it compares these."""
    return f"{row['n_blocks']}/{row['n_pairs']}" if row["method"] == "pairs" else str(row["n_blocks"])


def _interaction_cells(row: stats.Row) -> list[str]:
    return [
        stats.row_label(row), number(row["alone_pct"], "+.1f"), number(row["on_top_pct"], "+.1f"),
        change(row, "interaction_pct"), between(row["interaction_low_pct"], row["interaction_high_pct"], "+.1f"),
        str(row["n_blocks"]),
    ]  # fmt: skip


def no_formula(value: str) -> str:
    """The text with a quote before what a spreadsheet could take for a formula."""
    later = _FORMULA_LATER.sub(r"\1'", printable(value))
    return f"'{later}" if _FORMULA_FIRST.match(later) else later
