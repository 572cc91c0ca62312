"""What the commands share: where they read and write by default, and how they speak to the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base import signals
from lab.base.untrusted import listing, printable

if TYPE_CHECKING:
    from rich.console import Console

    from lab.report.analysis import Run
    from lab.results.run_folder import RunFolder

RESULTS = Path("results")
HOSTS = Path("hosts.ini")
WIDTH_OF_A_FILE = 120


def console() -> Console:
    """Standard output; as wide as the terminal, or of a fixed width where it goes to a file."""
    from rich.console import Console  # slow to import, and `lab local` needs none

    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE)


@contextmanager
def paged() -> Iterator[Console]:
    """What is printed on the console goes through the user's pager, where standard output is a terminal.

    The default pager, less, is told to end by itself where all fits on the screen. It has Ctrl-C for itself.
    """
    screen = console()
    if not sys.stdout.isatty():
        yield screen
        return
    os.environ.setdefault("LESS", "FRX")
    with signals.deferred(), screen.pager(styles=True):
        yield screen


def show(line: str) -> None:
    """Print one line on standard output, as it is; what a host or a file put into it does nothing to the terminal."""
    print(printable(" / ".join(line.splitlines())))


def say(text: str) -> None:
    """Print a message on standard error, as it is; what a host put into it does nothing to the terminal."""
    from rich.console import Console

    with suppress(OSError):
        Console(stderr=True).print(printable(text), markup=False, highlight=False, soft_wrap=True, emoji=False)


def print_answer(folder: RunFolder, run: Run | None = None) -> None:
    """Print what a run says, in ten lines. ``run`` is what has been loaded or computed of it already."""
    from lab.report.answer import answer
    from lab.results import run_folder

    for line in answer(run_folder.load(folder.path) if run is None else run, folder.label):
        show(line)


def open_run(name: str | None, results: Path = RESULTS) -> RunFolder:
    """The run that was named, by its path or in short, or the newest that measured anything. Raises BadInput.

    The name of a run that comes with the lab stands for that, unless a sweep of the runs here is called so.
    """
    from lab.results import examples
    from lab.results.newest_run import newest, nothing_measured, paths_of_runs
    from lab.results.run_folder import RunFolder
    from lab.results.run_names import find_run, sweep_of

    runs = paths_of_runs(results)
    if name and name not in map(sweep_of, runs) and (example := examples.find(name)):
        say(example.origin)
        return example
    folder = RunFolder(find_run(name, results)) if name else newest(results)
    if name and not folder.has_transfers:
        raise nothing_measured(folder)
    if not name and (later := [run.name for run in runs if run.name > folder.path.name]):
        say(f"{folder.path}: the newest run that holds a trial; there is none in {listing(later[::-1])}")
    return folder
