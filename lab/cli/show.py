"""`lab show`: the answer of a run in ten lines, or its tables."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from lab.cli.terminal import RUN_HELP, open_run, paged, print_answer

TABLES = ("speeds", "effects", "interactions", "shares", "limits", "settings", "ceilings", "counted", "remarks", "lost")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("run", type=Path, nargs="?", help=RUN_HELP)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--full", action="store_true", help="print the tables, and the answer after them")
    text = f"print this table: {', '.join(TABLES)}"
    what.add_argument("--table", choices=TABLES, metavar="NAME", help=text)
    what.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer, or the tables."""
    folder = open_run(arguments.run)
    if not (arguments.json or arguments.full or arguments.table):
        print_answer(folder)
        return 0

    from lab.report import terminal
    from lab.report.analysis import Analysis
    from lab.results import run_folder

    if arguments.json:
        print(json.dumps(terminal.show_json(folder), indent=1))
        return 0
    analysis = Analysis(run_folder.load(folder.path))
    names = terminal.FULL if arguments.full else [arguments.table]
    tables = terminal.terminal_tables(analysis, names)
    with paged() as screen:
        screen.print(*tables or ["nothing: the run has none"])
    if arguments.full:
        print_answer(folder, analysis)
    return 0
