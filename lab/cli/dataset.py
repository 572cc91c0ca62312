"""`lab dataset`: the trials of many runs in one folder, and what is computed of all of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Commands, Example, Run, add_command
from lab.cli.terminal import open_run, paged, say, show, show_json, show_whole
from lab.report import registry

if TYPE_CHECKING:
    from lab.dataset.pooled import Pooled
    from lab.results.run_folder import RunFolder

SUMMARY = "the trials of many runs in one folder of Parquet: medians and effects over all of them"
DATASET = Path("dataset")
FULL = ("speeds", "effects")


def add_commands(commands: Commands) -> None:
    def command(name: str, run: Run, text: str, *examples: Example) -> argparse.ArgumentParser:
        subparser = add_command(commands, name, run, text, examples)
        where = "the folder of the dataset (default: %(default)s)"
        subparser.add_argument("--dataset", type=Path, default=DATASET, metavar="DIR", help=where)
        return subparser

    every = Example("lab dataset add results/*", "all runs of this folder; runs that the dataset has stay as they are")
    newest = Example("lab dataset add -1 --dataset /data/nas", "the newest run, to a dataset elsewhere")
    add = command("add", _add, "add runs to a dataset, which is made if there is none", every, newest)
    add.add_argument("runs", nargs="+", metavar="RUN", help=f"the runs: {options.NAMES_OF_RUNS}")
    options.add_results(add)
    text = "add a run that is still going on, or was killed, too: with the trials that it has"
    options.add_flag(add, "--unfinished", text)
    medians = Example("lab dataset show", "medians and effects of each sweep, over all its runs")
    table = Example("lab dataset show macs --table interactions", "one table of one sweep")
    shows = command("show", _show, "what all runs of a sweep say together", medians, table)
    shows.add_argument("sweeps", nargs="*", metavar="SWEEP", help="the names of sweeps (default: all)")
    group = shows.add_mutually_exclusive_group()
    tables = registry.OF_DATASET
    group.add_argument("--table", choices=tables, metavar="NAME", help=f"print this table: {', '.join(tables)}")
    options.add_json(group)
    series = Example("lab dataset history nas", "what became of the runs that `lab measure TARGET --save nas` left")
    history = command("history", _history, "the saved runs of one share over time: steps and trends", series)
    history.add_argument("name", metavar="NAME", help="the name that `lab measure TARGET --save NAME` gave the runs")
    two = Example("lab dataset compare 3abb b403", "the run whose id begins with b403 over the run with 3abb")
    compare = command("compare", _compare, "runs of a dataset over a first one of it", two)
    compare.add_argument("runs", nargs="+", metavar="RUN", help="the ids of runs, or their beginnings; the first is A")
    options.add_json(compare)
    many = Example("lab dataset compact", "after a thousand small runs were added")
    command("compact", _compact, "join small files, so that they are read faster", many)


def _add(arguments: argparse.Namespace) -> int:
    from lab.dataset.add import add
    from lab.dataset.folder import Dataset, check_installed

    check_installed("duckdb", "pyarrow")
    dataset = Dataset.at(arguments.dataset)
    with dataset.claimed():
        for name in arguments.runs:
            folder = open_run(name, arguments.results)
            _check_contribution(folder)
            if add(dataset, folder, with_unfinished=arguments.unfinished):
                show_whole(folder.label)
            else:
                say(f"{folder.label}: is there already")
    return 0


def _check_contribution(folder: RunFolder) -> None:
    """Raise BadInput for a contribution that does not add up. Any other run passes."""
    from lab.contribution.record import NAME
    from lab.contribution.verify import verify

    if not (folder.path / NAME).exists():
        return
    if findings := verify(folder.path):
        more = f", and {len(findings) - 1} more" if len(findings) > 1 else ""
        message = f"{folder.label}: a contribution that does not add up: {findings[0]}{more}"
        raise BadInput(message, f"`lab contribute --verify {folder.label}` lists all; it is not added")


def _show(arguments: argparse.Namespace) -> int:
    from lab.dataset.engine import started
    from lab.dataset.folder import Dataset
    from lab.dataset.pooled import Pooled

    dataset = Dataset(arguments.dataset)
    with started() as engine:
        sweeps = [Pooled(engine, dataset, sweep) for sweep in arguments.sweeps or dataset.sweeps]
        if not sweeps:
            show(f"{arguments.dataset}: no run was added yet")
        elif arguments.json:
            show_json(list(map(_as_json, sweeps)))
        else:
            from lab.report.terminal import dataset_tables

            names = [arguments.table] if arguments.table else FULL
            drawn = [table for sweep in sweeps for table in dataset_tables(sweep, names, sweep.provenance)]
            with paged() as screen:
                screen.print(*drawn or ["nothing: the runs have none"])
    return 0


def _history(arguments: argparse.Namespace) -> int:
    """Print the history of each row. A dataset lacks what else changed at a step, which `lab history` prints."""
    from lab.dataset.engine import started
    from lab.dataset.folder import Dataset
    from lab.dataset.runs import speed_histories_of_runs
    from lab.report.document import on_screen
    from lab.report.history import CHANCE, History, sentences, tables
    from lab.results.saved_runs import SavedRun, SavedRuns

    with started() as engine:
        runs, histories = speed_histories_of_runs(engine, Dataset(arguments.dataset), arguments.name)
    saved = [SavedRun(Path(run.run_id), {}, begun, ()) for run, begun in runs]
    history = History(SavedRuns(arguments.name, saved, 0, ()), histories)
    where = dict.fromkeys(run.where for run, _ in runs if run.where)
    with paged() as screen:
        screen.print(*on_screen(sentences(history), tables(history), after=[CHANCE, *where]))
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    """Print each run over the first. A dataset lacks what else differs between runs, which `lab compare` prints."""
    from lab.dataset.engine import started
    from lab.dataset.folder import Dataset
    from lab.dataset.runs import compare_runs
    from lab.report.fitted_table import rich_table
    from lab.report.tables import records, versus_table
    from lab.stats.two_runs import TABLES as PARTS

    if len(arguments.runs) < 2:
        raise BadInput("one run is compared with nothing", "name two or more")
    with started() as engine:
        runs, versus = compare_runs(engine, Dataset(arguments.dataset), arguments.runs)
    if arguments.json:
        parts = [{name: records(getattr(ratios, name)) for name in PARTS} for ratios in versus]
        show_json([{"run": run.run_id, **ratios} for run, ratios in zip(runs[1:], parts, strict=True)])
        return 0
    with paged() as screen:
        for run, ratios in zip(runs[1:], versus, strict=True):
            where = list(dict.fromkeys([runs[0].where, run.where]))
            screen.print(rich_table(versus_table(ratios.pooled, runs[0].run_id, run.run_id), where))
    return 0


def _as_json(sweep: Pooled) -> dict[str, object]:
    """Counts, and tables as lists of records with the keys of `lab show --json`."""
    from lab.report.tables import records
    from lab.report.terminal import values_of

    return {
        "sweep": sweep.sweep, "runs": len(sweep.runs), "blocks": sum(run.blocks for run in sweep.runs),
        "counts": sweep.counts, "where": sweep.where, **values_of(registry.OF_DATASET, sweep, kept_empty=True),
        "limits": records(sweep.limits), "unjudged": sweep.unjudged,
        **values_of(registry.OF_DATASET, sweep, kept_empty=False),
    }  # fmt: skip


def _compact(arguments: argparse.Namespace) -> int:
    from lab.dataset.compact import compact
    from lab.dataset.engine import started
    from lab.dataset.folder import Dataset

    dataset = Dataset(arguments.dataset)
    with dataset.claimed(), started() as engine:
        before, after = compact(engine, dataset)
    show(f"{before:,} files before, {after:,} now")
    return 0
