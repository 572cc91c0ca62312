"""`compare.ipynb`: texts and figures of `lab compare` for two runs, and the numbers behind them."""

import pandas as pd
from matplotlib.figure import Figure

from lab.notebook.opened import Opened
from lab.notebook.table import Stack, Table, Text
from lab.report.compared.answer import answer
from lab.report.compared.comparison import Comparison
from lab.report.compared.confounding import confounding
from lab.report.compared.tables import facts_table, tables_of
from lab.report.figures.compared_runs import times_as_fast_figure
from lab.report.prose import CONFOUNDED
from lab.stats.two_runs import VERSUS


def over(b: Opened, a: Opened) -> Comparison:
    """Run B over run A. Raises BadInput if no case has a good trial in both."""
    return Comparison([a.folder, b.folder])


def show_answer(comparison: Comparison) -> Text:
    """The established changes, and their other possible causes."""
    return Text([*answer(comparison), *confounding(comparison), CONFOUNDED])


def show_differences(comparison: Comparison) -> Table:
    """The differences between hosts, code and levels of the runs."""
    return Table(facts_table(comparison), "What differs")


def draw_change(comparison: Comparison) -> Figure:
    """The speed of B over A, in all cases and in each, with intervals."""
    return times_as_fast_figure(comparison)


def show_change(comparison: Comparison) -> Stack:
    """The speed of B over A as tables: by protocol, tool and direction, and by case."""
    return Stack([Table(table, "B over A", folded=number > 0) for number, table in enumerate(tables_of(comparison, 0))])


def cases(comparison: Comparison) -> pd.DataFrame:
    """The numbers of each case of both runs by the factors that vary, from :func:`lab.stats.two_runs.compare_all`."""
    table = comparison.versus[0].cases
    varied = [name for name in table.columns[: table.columns.get_loc("n_a")] if table[name].nunique() > 1]
    return table[[*varied, *(name for name in VERSUS if name != "p_value")]]
