"""The tables of several pairs of hosts: effects and speeds over pairs and of each pair, the pairs, and their facts."""

import math
from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from lab import stats
from lab.design.factors import ABSENT
from lab.report.compared.pairs_of_hosts import PairsOfHosts, answer, confounded
from lab.report.compared.tables import runs_table, varied_factors
from lab.report.document import on_screen
from lab.report.tables import TextTable, between, change, number, setting_label
from lab.stats.over_pairs import SPEED

MOST_WIDE = 6  # pairs that a table has as columns; with more, a row has the number of pairs by value
OVER = (
    "Change in percent over n pairs, with the interval of Hartung, Knapp, Sidik and Jonkman. tau: how far pairs "
    "differ, beyond their own noise; further pair: the 95 % interval in which one would lie. * is established: the "
    "p-value, adjusted for all rows (overall rows first), is below 0.05."
)
OF_EACH = "Change in percent in each pair, Student's t over n blocks of that pair alone."
SPEEDS = "Geometric means over pairs, MB/s, with the same intervals. They tell how far pairs differ, and rank nothing."
SCATTER = ("95 % interval", "tau %", "I² %", "further pair", "n")


def pairs_tables(pairs: PairsOfHosts) -> list[RenderableType]:
    """Everything for the terminal: the answer, what cannot be told from the pair, then the tables."""
    tables = [effects_table(pairs), effects_of_pairs_table(pairs, overall=True), facts_table(pairs)]
    tables += [speeds_table(pairs), runs_table(pairs.runs, "pair")]
    return on_screen([*answer(pairs), *confounded(pairs)], tables)


def effects_table(pairs: PairsOfHosts) -> TextTable:
    """Every effect over pairs: the overall row of a comparison first, then one a protocol, tool and direction."""
    rows = [
        (row, [stats.row_label(row), change(row, "change_pct"), *_scatter(row, "_pct", "+")])
        for row in stats.rows_of(pairs.table.effects)
    ]
    named = list(_by_comparison(rows))
    return TextTable(["", "change %", *SCATTER], named, OVER if named else "")


def effects_of_pairs_table(pairs: PairsOfHosts, *, overall: bool = False) -> TextTable:
    """Every effect in each pair; ``overall``: over all cases alone."""
    table, pair_effects = pairs.table.effects, pairs.table.effects_of_pairs
    by_row = {place: stats.rows_of(rows) for place, rows in pair_effects.groupby("row")}
    shown = table[stats.comparisons(table)[1]] if overall and len(table) else table
    rows = [
        (row, [f"{stats.row_label(row)}, {pairs.pairs[pair_row['pair']].name}", number(pair_row["change_pct"], "+.1f"),
               between(pair_row["low_pct"], pair_row["high_pct"], "+.1f"), str(pair_row["n_blocks"])])
        for place, row in zip(shown.index.tolist(), stats.rows_of(shown), strict=True)
        for pair_row in by_row.get(place, [])
    ]  # fmt: skip
    named = list(_by_comparison(rows))
    return TextTable(["", "change %", "95 % interval", "n"], named, OF_EACH if named else "")


def speeds_table(pairs: PairsOfHosts) -> TextTable:
    """The speed of each case over the pairs."""
    rows = [
        [name, number(row["MB_per_s"], ".1f"), *_scatter(row, "_MB_per_s", "")]
        for name, row in zip(_case_labels(pairs), stats.rows_of(pairs.table.speeds), strict=True)
    ]
    return TextTable(["", "MB/s", *SCATTER], rows, SPEEDS)


def speeds_of_pairs_table(pairs: PairsOfHosts) -> TextTable:
    """The speed of each case in each pair."""
    names = _case_labels(pairs)
    rows = [
        [f"{names[row['row']]}, {pairs.pairs[row['pair']].name}", number(row["MB_per_s"], ".1f"),
         between(row["low_MB_per_s"], row["high_MB_per_s"], ".1f"), str(row["n_blocks"])]
        for row in stats.rows_of(pairs.table.speeds_of_pairs)
    ]  # fmt: skip
    return TextTable(["", "MB/s", "95 % interval", "n"], rows, "Geometric means of n blocks, Student's t over these.")


def facts_table(pairs: PairsOfHosts) -> TextTable:
    """The facts that differ between the pairs, a column a pair; if there are many, the number of pairs by value."""
    caption = "What differs between the pairs" if pairs.facts else ""
    if len(pairs.pairs) <= MOST_WIDE:
        rows = [[fact.name, *fact.values] for fact in pairs.facts]
        return TextTable(["differs", *(pair.name for pair in pairs.pairs)], rows, caption, is_text=True)
    rows = [[fact.name, value, str(count)] for fact in pairs.facts for value, count in fact.counts.items()]
    return TextTable(["differs", "value", "pairs"], rows, caption, is_text=True)


def _by_comparison(rows: Sequence[tuple[stats.Row, list[str]]]) -> Iterator[list[str]]:
    before = ""
    for row, cells in rows:
        if (name := stats.compared_label(row)) != before:
            yield [f"{name}:", *[""] * (len(cells) - 1)]
            before = name
        yield cells


def _scatter(row: stats.Row, unit: str, sign: str) -> list[str]:
    """The interval over pairs, how far pairs differ, where a further one would lie, and the number of pairs."""
    low, high = (row[f"predicted_{end}{unit}"] for end in ("low", "high"))
    further = [f"{end:{sign}.1f}" if abs(end) < 1000 else f"{end:{sign}.1e}" for end in (low, high)]
    return [
        between(row[f"low{unit}"], row[f"high{unit}"], f"{sign}.1f"), number(row["tau_pct"], ".1f"),
        number(100 * row["i2"], ".0f"), "–" if math.isnan(low) else " … ".join(further), str(row["n_pairs"]),
    ]  # fmt: skip


def _case_labels(pairs: PairsOfHosts) -> list[str]:
    table = pairs.table.speeds
    varied = varied_factors(table, SPEED)
    return [
        ", ".join([stats.row_label(row), *(setting_label(name, row[name]) for name in varied if row[name] != ABSENT)])
        for row in stats.rows_of(table)
    ]
