"""The tables of a comparison as text, and drawn for the terminal."""

from collections.abc import Sequence

import pandas as pd
from rich.console import RenderableType

from lab import stats
from lab.report.compared.answer import answer
from lab.report.compared.comparison import ComparedRun, Comparison
from lab.report.compared.confounding import confounding
from lab.report.compared.words import times
from lab.report.document import on_screen
from lab.report.fitted_table import rich_table
from lab.report.prose import CONFOUNDED, chance
from lab.report.tables import TextTable, between, change, number
from lab.results.trial import emulated

TIME_SHOWN = "%Y-%m-%d %H:%M"


def comparison_tables(comparison: Comparison) -> list[RenderableType]:
    """All of it for the terminal: the answer, what cannot be told apart, then the tables."""
    sentences = [*answer(comparison), *confounding(comparison), CONFOUNDED]
    first = [facts_table(comparison, "What differs between the runs")]
    first += [overall_table(comparison)] if len(comparison.others) > 1 else []
    drawn = on_screen(sentences, first)
    for place, other in enumerate(comparison.others):
        where = [where_from(run) for run in (comparison.base, other)]
        drawn += [rich_table(table, where) for table in tables_of(comparison, place)]
    return drawn


def where_from(run: ComparedRun) -> str:
    """Which run a letter stands for, and of which machines it is none."""
    return ", ".join(filter(None, [f"{run.letter}: {run.folder.label}", emulated(run.run)]))


def tables_of(comparison: Comparison, place: int, *, by_factor: bool = False) -> list[TextTable]:
    """The other run at this place over A: by protocol, tool and direction, and, where that is not the same, by case.

    ``by_factor``: the cases with a column a factor, so that a page can choose among them.
    """
    name, versus = comparison.others[place].letter, comparison.versus[place]
    pooled = f"All cases of a protocol, tool and direction together. {_chance(comparison, 'pooled')}"
    cases = f"Geometric means of n blocks, {name} over A. {_chance(comparison, 'cases')}"
    of_cases = (_table_by_factor if by_factor else _versus_table)(name, versus.cases, cases)
    if len(versus.cases) == len(versus.pooled):
        return [of_cases]
    return [_versus_table(name, versus.pooled, pooled), of_cases]


def overall_table(comparison: Comparison) -> TextTable:
    """One row a run: over all cases that it shares with A."""
    rows = []
    for other, versus in zip(comparison.others, comparison.versus, strict=True):
        cells = [_cells(row) for row in stats.rows_of(versus.overall)] or [["–"] * 7]
        rows.append([other.letter, str(versus.n_cases), *cells[0]])
    headings = ["", "cases", "A MB/s", "its MB/s", "times as fast as A", "change %", "95 % interval", "n A", "n"]
    return TextTable(headings, rows, f"All cases together, over A. {_chance(comparison, 'overall')}")


def link_table(comparison: Comparison) -> TextTable:
    """What iperf3 measured on the bare link in each run, over A."""
    rows = [
        [f"{other.letter} {row['direction']}", *_cells(row)]
        for other, versus in zip(comparison.others, comparison.versus, strict=True)
        for row in stats.rows_of(versus.link)
    ]
    headings = ["", "A MB/s", "its MB/s", "times as fast as A", "change %", "95 % interval", "n A", "n"]
    return TextTable(headings, rows, f"iperf3, all networks together. {_chance(comparison, 'link')}" if rows else "")


def facts_table(comparison: Comparison, caption: str = "") -> TextTable:
    """What the runs note differently, and factors with other levels, a column a run."""
    rows = [[fact.name, *fact.values] for fact in comparison.facts]
    levels = {run.letter: {name: levels for name, _, levels in comparison.levels(run)} for run in comparison.others}
    of_base = {name: mine for run in comparison.others for name, mine, _ in comparison.levels(run)}
    for name, mine in of_base.items():
        rows.append([name, mine, *(levels[run.letter].get(name, mine) for run in comparison.others)])
    letters = [run.letter for run in comparison.runs]
    return TextTable(["differs", *letters], rows, caption if rows else "", is_text=True)


def runs_table(runs: Sequence[ComparedRun], letters: str = "") -> TextTable:
    """The runs: which they are, when they began, and what was measured; ``letters`` is what theirs stand for."""
    rows = []
    for run in runs:
        begun = f"{run.begun:{TIME_SHOWN}}" if run.begun else "–"
        begun += "" if run.run.get("finished_at") else ", not finished"
        where, what = stats.provenance(run.trials)
        rows.append([run.letter, run.folder.label, begun, str(run.run.get("code_version", "–")), where, what])
    return TextTable([letters, "run", "began (UTC)", "lab", "where", "what"], rows, is_text=True)


def _chance(comparison: Comparison, name: str) -> str:
    """What chance does in a table, all runs together: their p-values are adjusted together."""
    return chance(pd.concat([getattr(versus, name) for versus in comparison.versus]))


def _versus_table(name: str, table: pd.DataFrame, caption: str) -> TextTable:
    """One run over A, each row named in its first column."""
    varied = _varied(table)
    rows = []
    for row in stats.rows_of(table):
        settings = [f"{stats.factor_label(factor)} {stats.level_label(factor, row[factor])}" for factor in varied]
        rows.append([", ".join([stats.row_label(row), *settings]), *_cells(row)])
    return TextTable(["", *_headings(name)], rows, caption)


def _table_by_factor(name: str, table: pd.DataFrame, caption: str) -> TextTable:
    """One run over A, with a column for each factor that names its rows."""
    factors = [*stats.POOLED, *_varied(table)]
    rows = [
        [*(stats.level_label(factor, row[factor]) for factor in factors), *_cells(row)] for row in stats.rows_of(table)
    ]
    headings = [*map(stats.factor_label, factors), *_headings(name)]
    return TextTable(headings, rows, caption, factors=len(factors))


def _varied(table: pd.DataFrame) -> list[str]:
    """The factors that vary, but for those that name every row."""
    factors = [str(name) for name in table.columns[: table.columns.get_loc("n_a")] if name not in stats.POOLED]
    return [name for name in factors if table[name].nunique() > 1]


def _headings(name: str) -> list[str]:
    return ["A MB/s", f"{name} MB/s", "times as fast", f"{name}/A %", "95 % interval", "n A", f"n {name}"]


def _cells(row: stats.Row) -> Sequence[str]:
    speeds = [number(row[f"MB_per_s_{run}"], ".1f") for run in "ab"]
    interval = between(row["low_pct"], row["high_pct"], "+.1f")
    ratio: str = "–" if pd.isna(row["ratio"]) else times(row).replace(" [no interval]", "")
    return [*speeds, ratio, change(row, "change_pct"), interval, str(row["n_a"]), str(row["n_b"])]
