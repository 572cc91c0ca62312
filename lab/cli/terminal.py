"""What the commands share: their default files, printing, the pager, the browser, and opening a run."""

from __future__ import annotations

import json
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

RESULTS, HOSTS = Path("results"), Path("hosts.ini")
WIDTH_OF_A_FILE, WIDTH_OF_AN_UNKNOWN = 120, 80


def columns(stream: TextIO) -> int | None:
    """The width of a stream's terminal, or COLUMNS; None without a terminal: nothing is wrapped then."""
    if not stream.isatty():
        return None
    wide = os.environ.get("COLUMNS", "")
    if wide.isdigit() and int(wide):
        return int(wide)
    with suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns or WIDTH_OF_AN_UNKNOWN
    return WIDTH_OF_AN_UNKNOWN


def console() -> Console:
    """Standard output, as wide as the terminal; a file gets a fixed width."""
    from rich.console import Console, ConsoleDimensions  # slow to import, and `lab local` needs none

    width = columns(sys.stdout)
    if width is None:
        return Console(width=WIDTH_OF_A_FILE)
    screen = Console()
    if screen.is_dumb_terminal:  # rich assumes 80 columns
        screen.size = ConsoleDimensions(width, screen.height)
    return screen


@contextmanager
def paged() -> Iterator[Console]:
    """A console that prints through the user's pager on a terminal. Ctrl-C goes to the pager.

    The default pager, less, ends by itself if all fits on the screen.
    """
    screen = console()
    if not sys.stdout.isatty():
        yield screen
        return
    os.environ.setdefault("LESS", "FRX")
    with signals.deferred(), screen.pager(styles=True):
        yield screen


def show(line: str) -> None:
    """Print one line, wrapped on a terminal. Control characters from hosts are escaped."""
    width, text = columns(sys.stdout), shown(" / ".join(line.splitlines()))
    print("\n".join(wrap_hanging(text, width)) if width else text)


def show_whole(line: str) -> None:
    """Print one line without wrapping it, such as a path to copy. Control characters are escaped."""
    print(shown(" / ".join(line.splitlines())))


def say(text: str) -> None:
    """Print a message on standard error, wrapped on a terminal. Control characters from hosts are escaped."""
    width, text = columns(sys.stderr), shown(text)
    if width:
        text = "\n".join(part for line in text.split("\n") for part in wrap_hanging(line, width))
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)  # a live display moves below it


def show_json(value: object) -> None:
    print(json.dumps(value, indent=1))


def print_answer(folder: RunFolder, run: Run | None = None) -> None:
    """Print the answer of a run in ten lines. ``run`` is the run if it is loaded already."""
    from lab.report.answer import WIDTH, answer
    from lab.results import run_folder

    loaded = run_folder.load(folder.path) if run is None else run
    for line in answer(loaded, folder.label, columns(sys.stdout) or WIDTH):
        show_whole(line)


def open_run(name: str | None, results: Path = RESULTS) -> RunFolder:
    """Open the run that was named (:func:`lab.results.opening.open_run`), or the newest. Raises BadInput."""
    from lab.results import examples
    from lab.results.opening import open_run as open_named
    from lab.results.run_names import paths_of_runs

    folder = open_named(name, results)
    if isinstance(folder, examples.Example):
        say(folder.origin)
    if not name and (later := [run.name for run in paths_of_runs(results) if run.name > folder.path.name]):
        say(f"{folder.path}: the newest run that holds a trial; there is none in {listing(later[::-1], 3)}")
    return folder


def report_place(folder: RunFolder) -> Path | None:
    """The folder for an example's report, because an example lies in a temporary folder; None for any other run."""
    from lab.results.examples import Example

    return Path(f"report-{folder.label}") if isinstance(folder, Example) else None


def open_page(page: Path) -> None:
    """Open a page in the browser; without a screen or a browser, print its path."""
    import webbrowser  # rarely needed

    has_screen = sys.platform == "darwin" or any(map(os.environ.get, ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")))
    if not (has_screen and webbrowser.open(page.resolve().as_uri())):
        say(f"{page.resolve()}: there is no browser here: open it in one")
