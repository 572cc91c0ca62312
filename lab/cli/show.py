"""`lab show`: the answer of a run in ten lines, or its tables."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from lab.cli import options
from lab.cli.browser import open_page, report_place
from lab.cli.command import Example
from lab.cli.terminal import open_run, paged, print_answer
from lab.report import registry

SUMMARY = "the answer of a run, or its tables"
EXAMPLES = (
    Example("lab show", "the newest run in ten lines: what is fastest, what matters, what held it back"),
    Example("lab show demo --full", "all tables of the newest run of the sweep demo"),
    Example("lab show -2 --table speeds", "one table of the run before the newest"),
    Example("lab show example", "a run that comes with the lab"),
    Example("lab show --open", "the answer, and the report in the browser"),
)
if TYPE_CHECKING:
    from lab.results.run_folder import RunFolder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    options.add_run(parser)
    options.add_results(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--full", action="store_true", help="print the tables, and the answer after them")
    tables = registry.OF_RUN
    what.add_argument("--table", choices=tables, metavar="NAME", help=f"print this table: {', '.join(tables)}")
    what.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--open", action="store_true", help="write the report too, and open it in the browser")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer, or the tables."""
    folder = open_run(arguments.run, arguments.results)
    _print(folder, arguments)
    if arguments.open:
        from lab.report import run_report

        open_page(run_report.write(folder, report_place(folder)))
    return 0


def _print(folder: RunFolder, arguments: argparse.Namespace) -> None:
    if not (arguments.json or arguments.full or arguments.table):
        print_answer(folder)
        return

    from lab.report import terminal
    from lab.report.analysis import Analysis
    from lab.results import run_folder

    if arguments.json:
        print(json.dumps(terminal.show_json(folder), indent=1))
        return
    analysis = Analysis(run_folder.load(folder.path))
    names = registry.FULL if arguments.full else [arguments.table]
    tables = terminal.terminal_tables(analysis, names)
    with paged() as screen:
        screen.print(*tables or ["nothing: the run has none"])
    if arguments.full:
        print_answer(folder, analysis)
