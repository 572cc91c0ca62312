"""What the commands share: where they read and write by default, and how they speak to the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from lab.base import signals
from lab.base.untrusted import listing, shown
from lab.base.wrapped import wrap_hanging

if TYPE_CHECKING:
    from rich.console import Console

    from lab.report.analysis import Run
    from lab.results.run_folder import RunFolder

RESULTS = Path("results")
HOSTS = Path("hosts.ini")
WIDTH_OF_A_FILE = 120
WIDTH_OF_AN_UNKNOWN = 80


def columns(stream: TextIO) -> int | None:
    """How wide the terminal is that a stream goes to; None where it goes to none: what is printed there is not wrapped.

    COLUMNS says otherwise, as everywhere.
    """
    if not stream.isatty():
        return None
    wide = os.environ.get("COLUMNS", "")
    if wide.isdigit() and int(wide):
        return int(wide)
    with suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns or WIDTH_OF_AN_UNKNOWN
    return WIDTH_OF_AN_UNKNOWN


def console() -> Console:
    """Standard output; as wide as the terminal, or of a fixed width where it goes to a file."""
    from rich.console import Console, ConsoleDimensions  # slow to import, and `lab local` needs none

    width = columns(sys.stdout)
    if width is None:
        return Console(width=WIDTH_OF_A_FILE)
    screen = Console()
    if screen.is_dumb_terminal:  # rich takes every such for one of 80 columns
        screen.size = ConsoleDimensions(width, screen.height)
    return screen


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
    """Print one line on standard output; on a terminal it is wrapped. What a host put into it does nothing there."""
    width, text = columns(sys.stdout), shown(" / ".join(line.splitlines()))
    print("\n".join(wrap_hanging(text, width)) if width else text)


def show_whole(line: str) -> None:
    """The same of a line that is left as it is for whoever copies it: a path, or a line that fits."""
    print(shown(" / ".join(line.splitlines())))


def say(text: str) -> None:
    """Print a message on standard error; what a host put into it does nothing to the terminal, where it is wrapped."""
    width, text = columns(sys.stderr), shown(text)
    if width:
        text = "\n".join(part for line in text.split("\n") for part in wrap_hanging(line, width))
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)  # the live display, where there is one, moves below it


def print_answer(folder: RunFolder, run: Run | None = None) -> None:
    """Print what a run says, in ten lines. ``run`` is what has been loaded or computed of it already."""
    from lab.report.answer import WIDTH, answer
    from lab.results import run_folder

    loaded = run_folder.load(folder.path) if run is None else run
    for line in answer(loaded, folder.label, columns(sys.stdout) or WIDTH):
        show_whole(line)


def open_run(name: str | None, results: Path = RESULTS) -> RunFolder:
    """The run that was named (:func:`lab.results.opening.open_run`), or the newest, with what is said of it. Raises
    BadInput.
    """
    from lab.results import examples
    from lab.results.opening import open_run as open_named
    from lab.results.run_names import paths_of_runs

    folder = open_named(name, results)
    if isinstance(folder, examples.Example):
        say(folder.origin)
    if not name and (later := [run.name for run in paths_of_runs(results) if run.name > folder.path.name]):
        say(f"{folder.path}: the newest run that holds a trial; there is none in {listing(later[::-1])}")
    return folder
