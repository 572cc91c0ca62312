"""/usr/bin/python3 from 10.15 on: a stub that asks for the developer tools (on a desktop, by a window)."""

from __future__ import annotations

from .. import bsd_getopt


def main(argv: list[str]) -> int:
    """Refuse."""
    bsd_getopt.fail("xcode-select: note: No developer tools were found, requesting install.\n"
                 "If developer tools are located at a non-default location on disk, use `sudo xcode-select --switch "
                 "path/to/Xcode.app` to specify the Xcode that you wish to use for command line developer tools, and "
                 "cancel the installation dialog.\nSee `man xcode-select` for more details.")  # fmt: skip
