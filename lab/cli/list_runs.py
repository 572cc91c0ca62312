"""`lab list`: the runs of the results folder, the newest first."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import WIDTH_OF_A_FILE, say, show, show_json

if TYPE_CHECKING:
    from lab.results.run_list import ListedRun

SUMMARY = "the runs of the results folder, the newest first: when, sweep, trials, hosts and the fastest case"
EXAMPLES = (
    Example("lab list", "one line a run; `lab show -2` shows the second"),
    Example("lab list --results nas/results --json", "the runs of another folder, for a program to read"),
)
GAP, INDENT = "  ", "    "
COLUMNS = 4  # run, trials, hosts, speeds
COMPLETE = "complete"  # the value in run.json for a run that did its whole sweep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_results(parser)
    options.add_json(parser)
    options.add_flag(parser, "--all", "list runs too that failed before their first transfer")


def run(arguments: argparse.Namespace) -> int:
    from lab.results.run_list import list_runs

    every = dict(enumerate(list_runs(arguments.results), 1))
    runs = {place: listed for place, listed in every.items() if arguments.all or listed.began}
    if arguments.json:
        show_json([asdict(listed) for listed in runs.values()])
        return 0
    if not every:
        say(f"{arguments.results}: holds no run; `lab run SWEEP` makes one")
    elif hidden := len(every) - len(runs):
        say(f"{hidden} more failed before the first transfer: `lab list --all` shows {'it' if hidden == 1 else 'them'}")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH_OF_A_FILE
    for line in lines_of(runs, width):
        show(line)
    return 0


def lines_of(runs: Mapping[int, ListedRun], width: int) -> Iterator[str]:
    """The list in lines of at most ``width`` characters; only names of runs may be longer.

    The keys are the places of the runs, from the newest, which is 1. A run takes one line if it fits, else two or more.
    """
    rows = [[f"{f'-{place}':<3} {Path(listed.path).name}", *_columns(listed)] for place, listed in runs.items()]
    widths = [max(map(len, texts)) for texts in zip(*(row for row in rows if len(row) == COLUMNS), strict=True)]
    for row in rows:
        line = GAP.join(f"{text:<{column}}" for text, column in zip(row, widths, strict=False)).rstrip()
        if len(row) == COLUMNS and len(line) <= width:
            yield line
        else:
            yield row[0]
            rest = GAP.join(filter(None, row[1:]))
            yield from textwrap.wrap(rest, width, initial_indent=INDENT, subsequent_indent=INDENT)


def _columns(listed: ListedRun) -> list[str]:
    """Trials, hosts, and speeds with the end of a run; or why the run cannot be read."""
    if listed.problem:
        return [f"cannot be read: {listed.problem}"]
    counts = [f"{count} {status}" for status, count in listed.trials.items() if count]
    more = "" if listed.is_whole else " and more"
    label = f" ({listed.label})" if listed.label else ""
    speeds = ", ".join(f"{direction} {speed:.1f}" for direction, speed in listed.fastest.items())
    fastest = f"at most {speeds} MB/s" if speeds else ""
    ended = "" if fastest and listed.ended == COMPLETE else listed.ended
    hosts = ", ".join(filter(None, listed.hosts.values()))
    return [f"{', '.join(counts) or 'no trial'}{more}", f"{hosts}{label}", "; ".join(filter(None, [fastest, ended]))]
