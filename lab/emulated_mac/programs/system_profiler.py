"""system_profiler(8): SPEthernetDataType, as text, property list or (10.15 and later) JSON."""

from __future__ import annotations

import json
import plistlib
import sys

from .. import bsd_getopt, profiles
from ..interfaces import find


def main(argv: list[str]) -> int:
    """The cards; the speed is the largest that they can, and not what was negotiated."""
    types = [word for word in argv if not word.startswith("-")]
    flags = {word for word in argv if word.startswith("-")}
    if types != ["SPEthernetDataType"]:
        bsd_getopt.fail_as_not_emulated("system_profiler", " ".join(argv))
    if flags - {"-xml", "-json", "-detailLevel"} or ("-json" in flags and profiles.current().number < (10, 15)):
        print("Usage: system_profiler [-listDataTypes] [-xml] dataType1 ... dataTypeN", file=sys.stderr)
        return 1
    card = _card()
    if "-json" in flags:
        print(json.dumps({"SPEthernetDataType": [card]}, indent=2))
    elif "-xml" in flags:
        content = [{"_dataType": "SPEthernetDataType", "_items": [card], "_SPCommandLineArguments": argv}]
        print(plistlib.dumps(content).decode(), end="")
    else:
        rows = "".join(
            f"      {name.removeprefix('spethernet_')}: {value}\n" for name, value in card.items() if name != "_name"
        )
        print(f"Ethernet Cards:\n\n    {card['_name']}:\n\n{rows}")
    return 0


def _card() -> dict[str, str]:
    link = find("en0")
    assert link is not None
    return {
        "_name": "Emulated Ethernet", "spethernet_avb_support": "spethernet_avb_unsupported",
        "spethernet_BSD_Device_Name": "en0", "spethernet_bus": "Virtual", "spethernet_driver": "emulated",
        "spethernet_mac_address": link.mac, "spethernet_max_link_speed": "10 Gb/s",
        "spethernet_product_name": "Emulated Ethernet", "spethernet_vendor_name": "Emulated",
    }  # fmt: skip
