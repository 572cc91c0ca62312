"""`lab compare`: the cases of one run over those of another, such as a new kernel over an old one."""

from __future__ import annotations

import argparse
import json

from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import console, open_run

SUMMARY = "the cases of run B over those of run A, such as a new kernel over an old one"
EXAMPLES = (
    Example("lab compare -2 -1", "the newest run over the one before"),
    Example("lab compare results/20260101T120000Z-macs macs", "the newest run of the sweep macs over an older one"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("a", metavar="A", help=f"the one before: {options.NAMES_OF_RUNS}")
    parser.add_argument("b", metavar="B", help="the one after, named so too")
    options.add_results(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison."""
    from lab.report import two_runs

    folders = open_run(arguments.a, arguments.results), open_run(arguments.b, arguments.results)
    if arguments.json:
        print(json.dumps(two_runs.comparison(*folders), indent=1))
    else:
        console().print(*two_runs.comparison_tables(*folders))
    return 0
