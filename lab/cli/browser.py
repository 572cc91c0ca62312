"""Opening a page that was written just now in the browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lab.cli.terminal import say


def open_page(page: Path) -> None:
    """Open it where there is a screen to show it on; else say where it lies."""
    if not (_has_screen() and _browse(page)):
        say(f"{page.resolve()}: there is no browser here: open it in one")


def _has_screen() -> bool:
    return sys.platform == "darwin" or any(map(os.environ.get, ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")))


def _browse(page: Path) -> bool:
    import webbrowser  # wanted rarely

    return webbrowser.open(page.resolve().as_uri())
