"""What `compare.ipynb` shows of two runs: what `lab compare` says and draws, and the numbers behind it."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from lab.notebook.opened import Opened
from lab.notebook.table import Stack, Table, Text
from lab.report.compared.answer import answer
from lab.report.compared.comparison import Comparison
from lab.report.compared.confounding import confounding
from lab.report.compared.tables import facts_table, tables_of
from lab.report.figures.runs import times_as_fast_figure
from lab.report.prose import CONFOUNDED
from lab.stats.two_runs import VERSUS


def over(b: Opened, a: Opened) -> Comparison:
    """Run B over run A. Raises BadInput where no case has a good trial in both."""
    return Comparison([a.folder, b.folder])


def show_answer(comparison: Comparison) -> Text:
    """What changed, where that is established, and what else may be the cause."""
    return Text([*answer(comparison), *confounding(comparison), CONFOUNDED])


def show_differences(comparison: Comparison) -> Table:
    """What the runs say differently of hosts, code and levels."""
    return Table(facts_table(comparison), "What differs")


def draw_change(comparison: Comparison) -> Figure:
    """How many times as fast as A run B is, in all cases and in each, with intervals."""
    return times_as_fast_figure(comparison)


def show_change(comparison: Comparison) -> Stack:
    """The same as tables: by protocol, tool and direction, and by case."""
    return Stack([Table(table, "B over A", folded=number > 0) for number, table in enumerate(tables_of(comparison, 0))])


def cases(comparison: Comparison) -> pd.DataFrame:
    """The numbers of each case that both tried, by the factors that vary, from :func:`lab.stats.compare`."""
    table = comparison.versus[0].cases
    factors = table.columns[: table.columns.get_loc("n_a")]
    varied = [name for name in factors if table[name].nunique() > 1]
    return table[[*varied, *(name for name in VERSUS if name != "p_value")]]
