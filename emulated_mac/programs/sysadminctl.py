"""sysadminctl(8) is not emulated, because the lab changes no account of a Mac."""

import sys


def main(argv: list[str]) -> int:
    """Refuse, in a way that nobody takes for a Mac's."""
    print("sysadminctl: accounts of this emulated Mac cannot be changed", file=sys.stderr)
    return 64
