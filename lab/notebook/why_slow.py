"""`why-slow.ipynb`: the limit of each case, and what both hosts did meanwhile."""

from lab.notebook.course_figure import course
from lab.notebook.explore import cases_to_pick, show_case
from lab.notebook.opened import Opened
from lab.notebook.picker import Picker
from lab.notebook.table import Table, Text
from lab.report import figures
from lab.report.analysis import Run, analyse
from lab.report.bottlenecks import count_limits, limits_table
from lab.report.own_numbers import counted_table
from lab.report.samples import trials_with_samples
from lab.stats import measured, transfers


def show_limits(run: Run) -> list[object]:
    """The number of cases for each limit, and each case with the evidence."""
    verdicts = analyse(run).verdicts
    return [Text(count_limits(verdicts)), Table(limits_table(verdicts), "What limited each case")]


def show_stages(run: Run) -> list[object]:
    """The speed of each stage from disk to tool as a figure, and the counts of both hosts."""
    run = analyse(run)
    return [figures.stages(run), Table(counted_table(measured(run.trials)), "What both hosts counted", folded=True)]


def pick_case(run: Run) -> Picker[str]:
    """A list of the cases of a run, with limit and trials of the chosen one."""
    return Picker("Case", lambda: cases_to_pick(run), lambda case: show_case(run, case))


def pick_course(run: Opened) -> Picker[str]:
    """A list of the trials with samples, with the course of the chosen one."""
    return Picker("Trial", lambda: courses_to_pick(run), lambda trial_id: [course(run.folder, trial_id)])


def courses_to_pick(run: Opened) -> dict[str, str]:
    """The trials with samples, or the first trial if none has any."""
    known = [str(trial_id) for trial_id in transfers(run.trials)["trial_id"]]
    with_samples = set(trials_with_samples(run.folder))
    return {name: name for name in [name for name in known if name in with_samples] or known[:1]}
