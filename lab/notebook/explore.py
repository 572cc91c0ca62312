"""`explore.ipynb`: a run, a factor, a case and a trial as plain functions with pickers."""

from pathlib import Path
from typing import Any

import pandas as pd

from lab import stats
from lab.base.errors import LabError
from lab.base.untrusted import one_line
from lab.notebook.course_figure import course
from lab.notebook.opened import Opened, open_chosen, runs_to_pick
from lab.notebook.picker import Picker
from lab.notebook.table import Table, Text
from lab.report import figures
from lab.report.analysis import Analysis, Run, analyse
from lab.report.answer import answer
from lab.report.bottlenecks import limits_table
from lab.report.prose import drift_sentence
from lab.report.tables import TextTable, number
from lab.results import dataframe

LONGEST_VALUE = 300
WIDTH = 84  # characters of a line in JupyterLab beside its list of files
# The fields of a trial that are shown first
FIRST = ("status", "reason", "MB_per_s", "elapsed_s", "size_bytes", "share_of_ceiling", "block", "position")
OF_TRIAL = ("trial_id", "block", "position", "status", "reason", "MB_per_s", "elapsed_s", "share_of_ceiling")
OF_FACTOR = (*stats.POOLED, "change", "change_pct", "low_pct", "high_pct", "established", "n_blocks", "n_pairs")


class _FactorAnalysis(Analysis):
    """The analysis of a run that compares one factor only."""

    def __init__(self, run: Run, factor: str):
        super().__init__(analyse(run).trials)
        self.block_effects = list(stats.block_effects(self.speeds, [factor]))


def answer_of(run: Opened) -> Text:
    """The answer of a run in ten lines."""
    return Text(answer(run, run.name, WIDTH))


def show_run(run: Opened) -> list[object]:
    """The description of a run, its answer, and a figure of every trial."""
    return [Text(repr(run)), answer_of(run), figures.throughput(run)]


def summary(run: Run) -> pd.DataFrame:
    """The medians of a run by the factors that vary (:func:`lab.stats.summary`)."""
    table = analyse(run).summary
    factors = table.columns[: table.columns.get_loc("n")]
    return table.drop(columns=[name for name in factors if table[name].nunique() <= 1]).round(2)


def drift_of(run: Run) -> Text:
    """The drift of speeds within blocks and over the run, in words."""
    return Text(drift_sentence(analyse(run).drift))


def show_factor(run: Run, factor: str) -> list[object]:
    """The effects of one factor as a table and a figure."""
    analysis = _FactorAnalysis(run, factor)
    table = analysis.effects
    levels = [stats.change_label(factor, row["baseline"], row["level"]) for row in stats.rows_of(table)]
    return [table.assign(change=levels)[list(OF_FACTOR)].round(2), figures.effects(analysis)]


def show_case(run: Run, case_id: str) -> list[object]:
    """The limit of a case, and every trial of it."""
    run = analyse(run)
    verdict = run.verdicts[run.verdicts["case_id"] == case_id]
    trials = run.trials.frame.loc[run.trials.frame["case_id"] == case_id, list(OF_TRIAL)]
    return [Table(limits_table(verdict), "Held back by"), trials.set_index("trial_id").round(3)]


def show_trial(run: Opened, trial_id: str) -> list[object]:
    """The course of a trial, and everything that is recorded about it."""
    return [course(run.folder, trial_id), Table(trial_table(run, trial_id), "All that is recorded", folded=True)]


def trial_table(run: Run, trial_id: str) -> TextTable:
    """Every field, setting in effect and count of a trial that has a value, by name."""
    frame = analyse(run).trials.frame
    row = frame[frame["trial_id"] == trial_id]
    fields: dict[Any, Any] = row.drop(columns=["options", "effective", "observed"]).iloc[0].to_dict()
    first = {name: fields.pop(name) for name in FIRST}
    effective = {f"effective.{name}": value for name, value in row["effective"].iloc[0].items()}
    counted = {f"observed.{name}": value for name, value in dataframe.observed(row).iloc[0].to_dict().items()}
    facts: dict[str, object] = {**first, **fields, **effective, **counted}
    rows = []
    for name, value in facts.items():
        if isinstance(value, float) and not pd.isna(value):
            rows.append([str(name), f"{value:.6g}"])
        elif not isinstance(value, float) and value not in (None, ""):
            rows.append([str(name), one_line(str(value), LONGEST_VALUE)])
    return TextTable(["", ""], rows, is_text=True)


def factors_to_pick(run: Run) -> dict[str, str]:
    """The compared factors by their labels."""
    return {stats.factor_label(name): name for name in stats.compared_factors(analyse(run).speeds)}


def cases_to_pick(run: Run) -> dict[str, str]:
    """The cases of a run by their ids."""
    return {one_line(case, 200): case for case in sorted(analyse(run).verdicts["case_id"])}


def trials_to_pick(run: Run, case_id: str) -> dict[str, str]:
    """The trials of a case, by id and speed."""
    frame = analyse(run).trials.frame
    rows = stats.rows_of(frame.loc[frame["case_id"] == case_id, ["trial_id", "status", "MB_per_s"]])
    names = [f"{row['trial_id']}: {row['status']}, {number(row['MB_per_s'], '.1f', ' MB/s')}" for row in rows]
    return {one_line(name, 200): str(row["trial_id"]) for name, row in zip(names, rows, strict=True)}


class RunPicker(Picker[str]):
    """A list of runs; ``run`` is the chosen one."""

    def __init__(self, name: str | Path | None = None):
        self._opened: tuple[str, Opened] | None = None
        super().__init__("Run", lambda: runs_to_pick(name), lambda chosen: show_run(self._open(chosen)))

    @property
    def run(self) -> Opened:
        """The chosen run."""
        return self._open(self.value)

    def chosen_name(self) -> object:
        """The name of the run without names of hosts and accounts, for a page without lists."""
        try:
            return self.run.name
        except LabError:
            return super().chosen_name()

    def _open(self, chosen: str) -> Opened:
        if self._opened is None or self._opened[0] != chosen:
            self._opened = (chosen, open_chosen(chosen))
        return self._opened[1]


def pick_run(name: str | Path | None = None) -> RunPicker:
    """A list of the runs of the current folder, the examples, and ``name``: a path, a zip file or an address."""
    return RunPicker(name)


def pick_factor(picked: RunPicker) -> Picker[str]:
    """A list of the factors of the run."""
    return Picker("Factor", lambda: factors_to_pick(picked.run), lambda factor: show_factor(picked.run, factor), picked)


def pick_case(picked: RunPicker) -> Picker[str]:
    """A list of the cases of the run."""
    return Picker("Case", lambda: cases_to_pick(picked.run), lambda case: show_case(picked.run, case), picked)


def pick_trial(picked: RunPicker, case: Picker[str]) -> Picker[str]:
    """A list of the trials of the case that ``case`` has chosen."""
    return Picker(
        "Trial", lambda: trials_to_pick(picked.run, case.value), lambda trial_id: show_trial(picked.run, trial_id), case
    )
