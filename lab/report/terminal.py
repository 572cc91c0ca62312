"""A run in the terminal: its tables, each by a name, and all of it as JSON values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import pandas as pd
from rich.console import RenderableType
from rich.text import Text

from lab import stats
from lab.base.untrusted import one_line
from lab.report import registry
from lab.report.analysis import Analysis, Run, analyse
from lab.report.answer import answer
from lab.report.fitted_table import rich_table
from lab.report.prose import about_hosts, drift_sentence, not_measured
from lab.report.registry import FULL, S, Table
from lab.report.tables import records
from lab.results import run_folder
from lab.results.run_folder import RunFolder
from lab.stats.statistics import PooledStatistics


def terminal_tables(run: Run, names: Sequence[str] = FULL) -> list[RenderableType]:
    """The named tables that have anything. All together come between facts on the hosts and a sentence on drift."""
    run = analyse(run)
    shown = _draw(registry.OF_RUN, run, names, stats.provenance(run.trials), with_empty=names == FULL)
    if names != FULL:
        return shown
    about = run.trials.frame.attrs.get("run", {})
    head = filter(None, [about_hosts(about), *not_measured(about)])
    return [*(Text(one_line(line)) for line in head), *shown, Text(drift_sentence(run.drift))]


def dataset_tables(runs: PooledStatistics, names: Sequence[str], where: Sequence[str]) -> list[RenderableType]:
    """The named tables of all runs of a sweep in a dataset, with ``where`` below each."""
    return _draw(registry.OF_DATASET, runs, names, where, with_empty=True)


def _draw(
    tables: Mapping[str, Table[S]], run: S, names: Sequence[str], where: Sequence[str], *, with_empty: bool
) -> list[RenderableType]:
    return [
        rich_table(words, where)
        for table in map(tables.__getitem__, names)
        if (words := table.words(run)) and (words.rows or (with_empty and table.is_shown_empty))
    ]


def show_json(folder: RunFolder) -> dict[str, object]:
    """A run as JSON values: run.json, counts, and the tables as lists of records; null where there is no number."""
    run = Analysis(run_folder.load(folder.path))
    status = stats.transfers(run.trials)["status"]
    whole: dict[str, object] = {"path": folder.label, "run": folder.run, "answer": answer(run, folder.label)}
    whole["counts"] = {name: int((status == name).sum()) for name in ("ok", "void", "failed")}
    for key, value in values_of(registry.OF_RUN, run, kept_empty=True).items():
        whole[key] = value
        if key == "verdicts":
            whole["drift"] = records(pd.DataFrame([asdict(run.drift)]))[0]
    return whole | values_of(registry.OF_RUN, run, kept_empty=False)


def values_of(tables: Mapping[str, Table[S]], run: S, *, kept_empty: bool) -> dict[str, object]:
    """The tables as JSON values by key: those that are kept if empty, or the others that are not empty."""
    chosen = [table for table in tables.values() if table.is_kept_empty is kept_empty]
    values = {table.key: table.values(run) for table in chosen if table.values}
    return {key: value for key, value in values.items() if value or kept_empty}
