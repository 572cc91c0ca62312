"""What the commands share: where they read and write by default, and how they speak to the terminal."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from lab.base.untrusted import printable

if TYPE_CHECKING:
    from lab.results.run_folder import RunFolder

RESULTS = Path("results")
HOSTS = Path("hosts.ini")
WIDTH_OF_A_FILE = 120


def console() -> Console:
    """Standard output; as wide as the terminal, or of a fixed width where it goes to a file."""
    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE)


def say(text: str) -> None:
    """Print a message on standard error, as it is; what a host put into it does nothing to the terminal."""
    with suppress(OSError):
        Console(stderr=True).print(printable(text), markup=False, highlight=False, soft_wrap=True, emoji=False)


def open_run(path: Path | None) -> RunFolder:
    """The run folder that was named, or the newest. Raises BadInput."""
    from lab.results import run_folder

    return run_folder.RunFolder(path) if path else run_folder.newest(RESULTS)
