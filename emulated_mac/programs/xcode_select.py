"""xcode-select(1)."""

import sys

from .. import bsd_getopt, developer_tools
from ..kernel_client import call

NO_TOOLS = (
    "xcode-select: error: unable to get active developer directory, use `sudo xcode-select --switch "
    "path/to/Xcode.app` to set one (or see `man xcode-select`)"
)


def main(argv: list[str]) -> int:
    """Print the folder of the tools, or install them as if somebody had agreed in the window at once."""
    if argv in (["-p"], ["--print-path"], ["-print-path"]):
        if not developer_tools.are_installed():
            bsd_getopt.fail(NO_TOOLS, 2)
        print(developer_tools.FOLDER)
        return 0
    if argv != ["--install"]:
        bsd_getopt.fail_as_not_emulated("xcode-select", " ".join(argv))
    if developer_tools.are_installed():
        bsd_getopt.fail('xcode-select: note: Command line tools are already installed. Use "Software Update" in System '
                        "Settings or the softwareupdate command line interface to install updates")  # fmt: skip
    call("install_developer_tools")
    print("xcode-select: note: install requested for command line developer tools", file=sys.stderr)
    return 0
