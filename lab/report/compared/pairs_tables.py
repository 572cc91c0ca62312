"""The tables of several pairs of hosts: effects and speeds over pairs and of each pair, the pairs, and their facts."""

import math
from collections.abc import Callable, Sequence

import pandas as pd
from rich.console import RenderableType

from lab import stats
from lab.design.factors import ABSENT
from lab.report.compared.comparison import PairsOfHosts
from lab.report.compared.pairs_answer import answer, confounded
from lab.report.compared.tables import runs_table
from lab.report.document import on_screen
from lab.report.tables import TextTable, between, change, number
from lab.stats.over_pairs import SPEED

MOST_WIDE = 6  # pairs that a table has as columns: of more, a row has the number of pairs with each value
OVER = (
    "Change in percent over n pairs, with the interval of Hartung, Knapp, Sidik and Jonkman. tau: how far pairs "
    "differ, beyond their own noise; further pair: the 95 % interval in which one would lie. * is established: the "
    "p-value, adjusted for all rows (overall rows first), is below 0.05."
)
OF_EACH = "Change in percent in each pair, Student's t over n blocks of that pair alone."
SPEEDS = "Geometric means over pairs, MB/s, with the same intervals. They tell how far pairs differ, and rank nothing."


def pairs_tables(pairs: PairsOfHosts) -> list[RenderableType]:
    """All of it for the terminal: the answer, what cannot be told from the pair, then the tables."""
    sentences = [*answer(pairs), *confounded(pairs)]
    tables = [effects_table(pairs), effects_of_pairs_table(pairs, overall=True), facts_table(pairs)]
    tables += [speeds_table(pairs), runs_table(pairs.runs, "pair")]
    return on_screen(sentences, tables)


def effects_table(pairs: PairsOfHosts) -> TextTable:
    """Every effect over pairs: the overall row of a comparison first, then one a protocol, tool and direction."""
    rows = _by_comparison(pairs.table.effects, lambda _, row: [_effect_cells(row)])
    headings = ["", "change %", "95 % interval", "tau %", "I² %", "further pair", "n"]
    return TextTable(headings, rows, OVER if rows else "")


def effects_of_pairs_table(pairs: PairsOfHosts, *, overall: bool = False) -> TextTable:
    """The same of each pair; ``overall``: of all cases alone."""
    table, of_pairs = pairs.table.effects, pairs.table.effects_of_pairs
    by_row = {place: stats.rows_of(rows) for place, rows in of_pairs.groupby("row")}
    shown = table[stats.comparisons(table)[1]] if overall and len(table) else table

    def cells(place: int, row: stats.Row) -> list[list[str]]:
        return [
            [f"{stats.row_label(row)}, {pairs.pairs[one['pair']].name}", number(one["change_pct"], "+.1f"),
             between(one["low_pct"], one["high_pct"], "+.1f"), str(one["n_blocks"])]
            for one in by_row.get(place, [])
        ]  # fmt: skip

    rows = _by_comparison(shown, cells)
    return TextTable(["", "change %", "95 % interval", "n"], rows, OF_EACH if rows else "")


def speeds_table(pairs: PairsOfHosts) -> TextTable:
    """Each case over the pairs."""
    table = pairs.table.speeds
    rows = [[_case_label(table, row), *_speed_cells(row)] for row in stats.rows_of(table)]
    headings = ["", "MB/s", "95 % interval", "tau %", "I² %", "further pair", "n"]
    return TextTable(headings, rows, SPEEDS)


def speeds_of_pairs_table(pairs: PairsOfHosts) -> TextTable:
    """Each case in each pair."""
    table = pairs.table.speeds
    names = [_case_label(table, row) for row in stats.rows_of(table)]
    rows = [
        [f"{names[one['row']]}, {pairs.pairs[one['pair']].name}", number(one["MB_per_s"], ".1f"),
         between(one["low_MB_per_s"], one["high_MB_per_s"], ".1f"), str(one["n_blocks"])]
        for one in stats.rows_of(pairs.table.speeds_of_pairs)
    ]  # fmt: skip
    caption = "Geometric means of n blocks, Student's t over these."
    return TextTable(["", "MB/s", "95 % interval", "n"], rows, caption)


def facts_table(pairs: PairsOfHosts) -> TextTable:
    """What differs between the pairs: a column a pair, or of many pairs how many have each value."""
    caption = "What differs between the pairs" if pairs.facts else ""
    if len(pairs.pairs) <= MOST_WIDE:
        rows = [[fact.name, *fact.values] for fact in pairs.facts]
        return TextTable(["differs", *(pair.name for pair in pairs.pairs)], rows, caption, is_text=True)
    rows = [[fact.name, value, str(count)] for fact in pairs.facts for value, count in fact.pairs.items()]
    return TextTable(["differs", "value", "pairs"], rows, caption, is_text=True)


def _by_comparison(table: pd.DataFrame, cells: Callable[[int, stats.Row], list[list[str]]]) -> list[list[str]]:
    """The rows of each comparison below its name; ``cells`` makes those of a row, whose place it is given."""
    rows: list[list[str]] = []
    before = ""
    for place, row in zip(table.index.tolist(), stats.rows_of(table), strict=True):
        made, name = cells(place, row), stats.compared_label(row)
        if made and name != before:
            rows.append([f"{name}:", *[""] * (len(made[0]) - 1)])
            before = name
        rows += made
    return rows


def _effect_cells(row: stats.Row) -> list[str]:
    return [
        stats.row_label(row), change(row, "change_pct"), between(row["low_pct"], row["high_pct"], "+.1f"),
        *_scatter_cells(row), _further(row["predicted_low_pct"], row["predicted_high_pct"], "+"), str(row["n_pairs"]),
    ]  # fmt: skip


def _speed_cells(row: stats.Row) -> list[str]:
    return [
        number(row["MB_per_s"], ".1f"), between(row["low_MB_per_s"], row["high_MB_per_s"], ".1f"), *_scatter_cells(row),
        _further(row["predicted_low_MB_per_s"], row["predicted_high_MB_per_s"], ""), str(row["n_pairs"]),
    ]  # fmt: skip


def _scatter_cells(row: stats.Row) -> list[str]:
    """How far pairs differ; of one pair nothing."""
    return [number(row["tau_pct"], ".1f"), number(100 * row["i2"], ".0f")]


def _further(low: float, high: float, sign: str) -> str:
    """A prediction interval: that of three pairs may reach very far."""
    if math.isnan(low):
        return "–"
    return " … ".join(f"{end:{sign}.1f}" if abs(end) < 1000 else f"{end:{sign}.1e}" for end in (low, high))


def _case_label(table: pd.DataFrame, row: stats.Row) -> str:
    """A case by its protocol, tool and direction, and by what else varies."""
    names = _varied(table)
    levels = [(name, row[name]) for name in names if row[name] != ABSENT]
    settings = [f"{stats.factor_label(name)} {stats.level_label(name, level)}" for name, level in levels]
    return ", ".join([stats.row_label(row), *settings])


def _varied(table: pd.DataFrame) -> Sequence[str]:
    factors = [str(name) for name in table if name not in (*stats.POOLED, *SPEED)]
    return [name for name in factors if table[name].nunique() > 1]
