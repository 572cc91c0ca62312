"""/usr/bin/python3 from 10.15 on: it runs python3 of the developer tools, or asks for the tools in a window."""

import os

from .. import bsd_getopt, developer_tools
from ..kernel_client import call


def main(argv: list[str]) -> int:
    """Become python3, or ask for the developer tools and fail."""
    if developer_tools.are_installed():
        os.execv(developer_tools.PYTHON3, [developer_tools.PYTHON3, *argv])
    call("note_window")
    bsd_getopt.fail("xcode-select: note: No developer tools were found, requesting install.\n"
                 "If developer tools are located at a non-default location on disk, use `sudo xcode-select --switch "
                 "path/to/Xcode.app` to specify the Xcode that you wish to use for command line developer tools, and "
                 "cancel the installation dialog.\nSee `man xcode-select` for more details.")  # fmt: skip
