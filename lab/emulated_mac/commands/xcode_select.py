"""xcode-select(1), where no developer tools are installed."""

from __future__ import annotations

from .. import options


def main(argv: list[str]) -> int:
    """Where they are; there are none."""
    if argv in (["-p"], ["--print-path"], ["-print-path"]):
        options.fail("xcode-select: error: unable to get active developer directory, use `sudo xcode-select --switch "
                     "path/to/Xcode.app` to set one (or see `man xcode-select`)", 2)  # fmt: skip
    options.lacking("xcode-select", " ".join(argv))
