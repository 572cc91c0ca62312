"""`lab list`: the runs of the results folder, the newest first."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import WIDTH_OF_A_FILE, say, show

if TYPE_CHECKING:
    from lab.results.run_list import ListedRun

SUMMARY = "the runs of the results folder, the newest first: when, sweep, trials, hosts and the fastest case"
EXAMPLES = (
    Example("lab list", "one line a run; `lab show -2` shows the second"),
    Example("lab list --results nas/results --json", "those of another folder, for a program to read"),
)
GAP, INDENT = "  ", "    "
COLUMNS = 4  # run, trials, hosts, speeds
COMPLETE = "complete"  # what run.json says of a run that did all that its sweep asks for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    options.add_results(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    from lab.results.run_list import list_runs

    runs = list(list_runs(arguments.results))
    if arguments.json:
        print(json.dumps([asdict(listed) for listed in runs], indent=1))
        return 0
    if not runs:
        say(f"{arguments.results}: holds no run; `lab run SWEEP` makes one")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH_OF_A_FILE
    for line in lines_of(runs, width):
        show(line)
    return 0


def lines_of(runs: Sequence[ListedRun], width: int) -> Iterator[str]:
    """The list in lines of at most ``width`` characters, but for the names of runs, which stay whole.

    A run takes one line where it fits into it, and else two or more.
    """
    rows = [[f"{f'-{place}':<3} {Path(listed.path).name}", *_columns(listed)] for place, listed in enumerate(runs, 1)]
    widths = [max(map(len, texts)) for texts in zip(*(row for row in rows if len(row) == COLUMNS), strict=True)]
    for row in rows:
        line = GAP.join(f"{text:<{column}}" for text, column in zip(row, widths, strict=False)).rstrip()
        if len(row) == COLUMNS and len(line) <= width:
            yield line
        else:
            yield row[0]
            yield from textwrap.wrap(
                GAP.join(filter(None, row[1:])), width, initial_indent=INDENT, subsequent_indent=INDENT
            )


def _columns(listed: ListedRun) -> list[str]:
    """What is said of a run beside its name: trials, hosts, speeds and end; or what is wrong with it."""
    if listed.problem:
        return [f"cannot be read: {listed.problem}"]
    counts = [f"{count} {status}" for status, count in listed.trials.items() if count]
    more = "" if listed.is_whole else " and more"
    label = f" ({listed.label})" if listed.label else ""
    speeds = ", ".join(f"{direction} {speed:.1f}" for direction, speed in listed.fastest.items())
    result = [f"at most {speeds} MB/s"] if speeds else []
    ended = [listed.ended] if listed.ended != COMPLETE or not speeds else []
    return [
        f"{', '.join(counts) or 'no trial'}{more}",
        f"{', '.join(filter(None, listed.hosts.values()))}{label}",
        "; ".join([*result, *ended]),
    ]
