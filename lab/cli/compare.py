"""`lab compare`: the cases of one run over those of another, such as a new kernel over an old one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from lab.cli.terminal import console, open_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("a", type=Path, metavar="A", help="a run folder, or example")
    parser.add_argument("b", type=Path, metavar="B", help="a run folder, or example-delay")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison."""
    from lab.report import two_runs

    folders = open_run(arguments.a), open_run(arguments.b)
    if arguments.json:
        print(json.dumps(two_runs.comparison(*folders), indent=1))
    else:
        console().print(*two_runs.comparison_tables(*folders))
    return 0
