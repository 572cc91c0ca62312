"""sw_vers(1): from two tabs to one, as versions differ."""

import sys

from .. import profiles

FIELDS = {"-productName": "ProductName", "-productVersion": "ProductVersion", "-buildVersion": "BuildVersion"}


def main(argv: list[str]) -> int:
    """All three lines, or the value of one."""
    profile = profiles.current()
    values = {"ProductName": profile.product, "ProductVersion": profile.version, "BuildVersion": profile.build}
    if not argv:
        tabs = "\t\t" if profile.number >= (11,) else "\t"
        print("".join(f"{name}:{tabs}{value}\n" for name, value in values.items()), end="")
        return 0
    name = argv[0].replace("--", "-", 1) if profile.number >= (11,) else argv[0]
    if len(argv) > 1 or name not in FIELDS:
        print("Usage: sw_vers [-productName|-productVersion|-buildVersion]", file=sys.stderr)
        return 1
    print(values[FIELDS[name]])
    return 0
