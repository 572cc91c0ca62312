"""Where a report goes, and opening it in the browser once it is written."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lab.cli.terminal import say

if TYPE_CHECKING:
    from lab.results.run_folder import RunFolder


def report_place(folder: RunFolder) -> Path | None:
    """Where the report of a run goes, if not into its folder: that of an example is a temporary one."""
    from lab.results.examples import Example

    return Path(f"report-{folder.label}") if isinstance(folder, Example) else None


def open_page(page: Path) -> None:
    """Open it where there is a screen to show it on; else say where it lies."""
    if not (_has_screen() and _browse(page)):
        say(f"{page.resolve()}: there is no browser here: open it in one")


def _has_screen() -> bool:
    return sys.platform == "darwin" or any(map(os.environ.get, ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")))


def _browse(page: Path) -> bool:
    import webbrowser  # wanted rarely

    return webbrowser.open(page.resolve().as_uri())
