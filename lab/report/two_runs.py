"""``lab compare``: what differs between two runs, and how the cases that both tried compare."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from rich.console import RenderableType
from rich.text import Text

from lab import stats
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.report.prose import CONFOUNDED, chance
from lab.report.render import records, rich_table
from lab.report.tables import TextTable, between, change, number
from lab.results import run_folder
from lab.results.run_folder import RunFolder
from lab.results.trial import emulated


def comparison(a: RunFolder, b: RunFolder) -> dict[str, object]:
    """Run ``b`` over run ``a`` as JSON values: warning, differences, and the tables of :func:`lab.stats.compare`.

    Raises :class:`BadInput` where no case has a good trial in both.
    """
    cases, pooled, differences = _compare(a, b)
    return {
        "a": a.label, "b": b.label, "warning": CONFOUNDED,
        "emulated": {name: emulated(run.run) or None for name, run in (("a", a), ("b", b))},
        "differences": [dict(zip(("what", "a", "b"), difference, strict=True)) for difference in differences],
        "pooled": records(pooled), "cases": records(cases),
    }  # fmt: skip


def comparison_tables(a: RunFolder, b: RunFolder) -> list[RenderableType]:
    """The same for the terminal."""
    cases, pooled, differences = _compare(a, b)
    facts = TextTable(["differs", "A", "B"], differences, "What differs between the runs", is_text=True)
    where = [", ".join(filter(None, [f"{name}: {run.label}", emulated(run.run)])) for name, run in (("A", a), ("B", b))]
    headings = ["", "A MB/s", "B MB/s", "B/A %", "95 % interval", "n A", "n B"]
    tables = [
        TextTable(headings, _lines(pooled), f"All cases of a protocol, tool and direction together. {chance(pooled)}"),
        TextTable(headings, _lines(cases), f"Geometric means of n blocks, B over A. {chance(cases)}"),
    ]
    drawn = [rich_table(table, where) for table in (tables if len(cases) > len(pooled) else tables[1:])]
    return [Text(CONFOUNDED), *([rich_table(facts)] if differences else []), *drawn]


def _compare(a: RunFolder, b: RunFolder) -> tuple[pd.DataFrame, pd.DataFrame, list[tuple[str, str, str]]]:
    one, other = run_folder.load(a.path), run_folder.load(b.path)
    cases, pooled = stats.compare(one, other)
    if not ((cases["n_a"] > 0) & (cases["n_b"] > 0)).any():
        levels = "; ".join(f"{name}: {mine} and {its}" for name, mine, its in _levels(one, other))
        why = f"; they differ in {one_line(levels, 500)}" if levels else ""
        raise BadInput(f"{a.label} and {b.label}: no case has a good trial in both{why}: compare two runs of one sweep")
    return cases, pooled, [*stats.differing_facts(a.run, b.run), *_levels(one, other)]


def _levels(a: pd.DataFrame, b: pd.DataFrame) -> list[tuple[str, str, str]]:
    """The factors with other levels in ``b`` than in ``a``, as words."""
    return [
        (stats.factor_label(name), _join_levels(name, mine), _join_levels(name, its))
        for name, mine, its in stats.differing_levels(a, b)
    ]


def _join_levels(factor: str, levels: Sequence[stats.Level]) -> str:
    return ", ".join(stats.level_label(factor, level) for level in levels)


def _lines(table: pd.DataFrame) -> Sequence[Sequence[str]]:
    factors = [name for name in table.columns[: table.columns.get_loc("n_a")] if name not in stats.POOLED]
    varied = [name for name in factors if table[name].nunique() > 1]
    lines = []
    for row in table.to_dict("records"):
        settings = [f"{stats.factor_label(name)} {stats.level_label(name, row[name])}" for name in varied]
        speeds = [number(row[f"MB_per_s_{run}"], ".1f") for run in "ab"]
        interval = between(row["low_pct"], row["high_pct"], "+.1f")
        counts = [str(row["n_a"]), str(row["n_b"])]
        lines.append(
            [", ".join([stats.row_label(row), *settings]), *speeds, change(row, "change_pct"), interval, *counts]
        )
    return lines
