"""sysadminctl(8) is not emulated, because the lab changes no account of a Mac."""

import sys


def main(argv: list[str]) -> int:
    """Refuse with a message that no Mac prints."""
    print("sysadminctl: accounts of this emulated Mac cannot be changed", file=sys.stderr)
    return 64
