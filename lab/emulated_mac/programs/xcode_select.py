"""xcode-select(1), where no developer tools are installed."""

from __future__ import annotations

from .. import bsd_getopt

NO_TOOLS = (
    "xcode-select: error: unable to get active developer directory, use `sudo xcode-select --switch "
    "path/to/Xcode.app` to set one (or see `man xcode-select`)"
)


def main(argv: list[str]) -> int:
    """Where they are; there are none."""
    if argv in (["-p"], ["--print-path"], ["-print-path"]):
        bsd_getopt.fail(NO_TOOLS, 2)
    bsd_getopt.fail_as_not_emulated("xcode-select", " ".join(argv))
