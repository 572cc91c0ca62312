"""ipconfig(8): the address of an interface (bootp: ipconfig.c; without one it prints nothing and exits with 1)."""

from __future__ import annotations

from .. import bsd_getopt
from ..interfaces import dotted_address, find

USAGE = "usage: ipconfig <command> <args>"


def main(argv: list[str]) -> int:
    """Print what is asked for."""
    if not argv:
        bsd_getopt.fail_with_usage(USAGE)
    if argv[0] != "getifaddr":
        bsd_getopt.fail_as_not_emulated("ipconfig", argv[0])
    if len(argv) != 2:
        bsd_getopt.fail("usage: ipconfig getifaddr <interface name>")
    interface = find(argv[1])
    if interface is None or interface.address is None:
        return 1
    print(dotted_address(interface.address.ip))
    return 0
