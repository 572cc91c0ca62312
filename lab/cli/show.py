"""`lab show`: the tables of a run."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from lab.cli.terminal import console, open_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("run", type=Path, nargs="?", help="a run folder (default: the newest)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the tables."""
    from lab.report import run_report
    from lab.results import run_folder

    folder = open_run(arguments.run)
    if arguments.json:
        print(json.dumps(run_report.show_json(folder), indent=1))
        return 0
    console().print(*run_report.terminal_tables(run_folder.load(folder.path)))
    return 0
