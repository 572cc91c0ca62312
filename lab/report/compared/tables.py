"""The tables of a comparison as text, and drawn for the terminal."""

from collections.abc import Sequence

import pandas as pd
from rich.console import RenderableType

from lab import stats
from lab.report.compared.answer import answer
from lab.report.compared.comparison import ComparedRun, Comparison
from lab.report.compared.confounding import confounding
from lab.report.document import on_screen
from lab.report.fitted_table import rich_table
from lab.report.prose import CONFOUNDED, chance, times
from lab.report.tables import TextTable, between, change, number, setting_label
from lab.results.trial import emulated
from lab.stats.two_runs import VERSUS

OVER_A = ("times as fast as A", "change %", "95 % interval", "n A", "n")


def comparison_tables(comparison: Comparison) -> list[RenderableType]:
    """Everything for the terminal: the answer, what cannot be told apart, then the tables."""
    first = [facts_table(comparison, "What differs between the runs")]
    first += [overall_table(comparison)] if len(comparison.others) > 1 else []
    drawn = on_screen([*answer(comparison), *confounding(comparison), CONFOUNDED], first)
    for place, other in enumerate(comparison.others):
        where = [where_from(run) for run in (comparison.base, other)]
        drawn += [rich_table(table, where) for table in tables_of(comparison, place)]
    return drawn


def where_from(run: ComparedRun) -> str:
    """The run that a letter stands for, and whether a Mac was emulated."""
    return ", ".join(filter(None, [f"{run.letter}: {run.folder.label}", emulated(run.run)]))


def tables_of(comparison: Comparison, place: int, *, by_factor: bool = False) -> list[TextTable]:
    """The other run at this place over A, by protocol, tool and direction, and by case, ``by_factor`` in columns."""
    name, versus = comparison.others[place].letter, comparison.versus[place]
    pooled = f"All cases of a protocol, tool and direction together. {_chance(comparison, 'pooled')}"
    cases = f"Geometric means of n blocks, {name} over A. {_chance(comparison, 'cases')}"
    by_case = _versus_table(name, versus.cases, cases, by_factor)
    if len(versus.cases) == len(versus.pooled):
        return [by_case]
    return [_versus_table(name, versus.pooled, pooled, False), by_case]


def overall_table(comparison: Comparison) -> TextTable:
    """One row a run: over all cases that it shares with A."""
    rows = []
    for other, versus in zip(comparison.others, comparison.versus, strict=True):
        cells = [_cells(row) for row in stats.rows_of(versus.overall)] or [["–"] * 7]
        rows.append([other.letter, str(versus.n_cases), *cells[0]])
    caption = f"All cases together, over A. {_chance(comparison, 'overall')}"
    return TextTable(["", "cases", "A MB/s", "its MB/s", *OVER_A], rows, caption)


def link_table(comparison: Comparison) -> TextTable:
    """The speeds of iperf3 on the bare link in each run, over A."""
    rows = [
        [f"{other.letter} {row['direction']}", *_cells(row)]
        for other, versus in zip(comparison.others, comparison.versus, strict=True)
        for row in stats.rows_of(versus.link)
    ]
    caption = f"iperf3, all networks together. {_chance(comparison, 'link')}" if rows else ""
    return TextTable(["", "A MB/s", "its MB/s", *OVER_A], rows, caption)


def facts_table(comparison: Comparison, caption: str = "") -> TextTable:
    """The facts and the levels of factors that differ between the runs, a column a run."""
    rows = [[fact.name, *fact.values] for fact in comparison.facts]
    levels = [{name: (mine, its) for name, mine, its in comparison.levels(run)} for run in comparison.others]
    base_levels = {name: mine for run_levels in levels for name, (mine, _) in run_levels.items()}
    rows += [
        [name, mine, *(run_levels[name][1] if name in run_levels else mine for run_levels in levels)]
        for name, mine in base_levels.items()
    ]
    return TextTable(["differs", *(run.letter for run in comparison.runs)], rows, caption if rows else "", is_text=True)


def runs_table(runs: Sequence[ComparedRun], letters: str = "") -> TextTable:
    """The runs: name, begin, and what was measured; ``letters`` is the heading of their letters."""
    rows = []
    for run in runs:
        begun = f"{run.begun:%Y-%m-%d %H:%M}" if run.begun else "–"
        begun += "" if run.run.get("finished_at") else ", not finished"
        code = str(run.run.get("code_version", "–"))
        rows.append([run.letter, run.folder.label, begun, code, *stats.provenance(run.trials)])
    return TextTable([letters, "run", "began (UTC)", "lab", "where", "what"], rows, is_text=True)


def varied_factors(table: pd.DataFrame, others: Sequence[str]) -> list[str]:
    """The factors that vary in a table of cases, except for protocol, tool and direction; ``others`` are no factors."""
    names = [str(name) for name in table if name not in (*stats.POOLED, *others)]
    return [name for name in names if table[name].nunique() > 1]


def _chance(comparison: Comparison, name: str) -> str:
    return chance(pd.concat([getattr(versus, name) for versus in comparison.versus]))


def _versus_table(name: str, table: pd.DataFrame, caption: str, by_factor: bool) -> TextTable:
    """One run over A; each row is named in its first column, or ``by_factor`` with a column for each."""
    varied = varied_factors(table, VERSUS)
    rows = []
    for row in stats.rows_of(table):
        if by_factor:
            first = [stats.level_label(factor, row[factor]) for factor in (*stats.POOLED, *varied)]
        else:
            first = [", ".join([stats.row_label(row), *(setting_label(factor, row[factor]) for factor in varied)])]
        rows.append([*first, *_cells(row)])
    factors = [*map(stats.factor_label, (*stats.POOLED, *varied))] if by_factor else []
    headings = ["A MB/s", f"{name} MB/s", "times as fast", f"{name}/A %", "95 % interval", "n A", f"n {name}"]
    return TextTable([*(factors or [""]), *headings], rows, caption, factors=len(factors))


def _cells(row: stats.Row) -> Sequence[str]:
    speeds = [number(row[f"MB_per_s_{run}"], ".1f") for run in "ab"]
    interval = between(row["low_pct"], row["high_pct"], "+.1f")
    ratio: str = "–" if pd.isna(row["ratio"]) else times(row).replace(" [no interval]", "")
    return [*speeds, ratio, change(row, "change_pct"), interval, str(row["n_a"]), str(row["n_b"])]
