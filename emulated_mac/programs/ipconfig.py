"""ipconfig(8): the address of an interface. Source: bootp, ipconfig.tproj/client.c (494.60.3). The case of a command
does not matter. Too few words print its usage; more are ignored. An interface without an address, or a missing one,
prints nothing and exits with 1. An unknown command prints the whole usage and exits with 1.
"""

from .. import bsd_getopt
from ..interfaces import dotted_address, find

# The commands in the usage, each with the number of words that it needs
NEEDS = {
    "waitall": 0, "getifaddr": 1, "ifcount": 0, "getoption": 2, "getiflist": 0, "getsummary": 1, "getpacket": 1,
    "getv6packet": 1, "getra": 1, "getdhcpduid": 0, "getdhcpiaid": 1, "set": 2, "setverbose": 1,
    "setipv6linklocalmodifierexpires": 1,
}  # fmt: skip
USAGE = f"usage: ipconfig <command> <args>\nwhere <command> is one of {', '.join(NEEDS)}"


def main(argv: list[str]) -> int:
    """Run the command."""
    command = argv[0].lower() if argv else ""
    if command not in NEEDS:
        bsd_getopt.fail_with_usage(USAGE)
    if command != "getifaddr":
        bsd_getopt.fail_as_not_emulated("ipconfig", argv[0])
    if len(argv) - 1 < NEEDS[command]:
        bsd_getopt.fail("usage: ipconfig getifaddr <interface name>")
    interface = find(argv[1])
    if interface is None or interface.address is None:
        return 1
    print(dotted_address(interface.address.ip))
    return 0
