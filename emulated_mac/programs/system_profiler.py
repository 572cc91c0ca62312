"""system_profiler(8): SPEthernetDataType and SPAirPortDataType, as text, property list or (10.15 and later) JSON."""

import json
import os
import plistlib
import sys

from .. import bsd_getopt, profiles
from ..interfaces import find
from ..kernel_client import call

HEADS = {"SPEthernetDataType": "Ethernet Cards", "SPAirPortDataType": "Wi-Fi"}


def main(argv: list[str]) -> int:
    """Print the cards. An Ethernet card shows its largest speed, not the negotiated one."""
    types = [word for word in argv if not word.startswith("-")]
    flags = {word for word in argv if word.startswith("-")}
    if len(types) != 1 or types[0] not in HEADS:
        bsd_getopt.fail_as_not_emulated("system_profiler", " ".join(argv))
    if flags - {"-xml", "-json", "-detailLevel"} or ("-json" in flags and profiles.current().number < (10, 15)):
        print("Usage: system_profiler [-listDataTypes] [-xml] dataType1 ... dataTypeN", file=sys.stderr)
        return 1
    items = _items(types[0])
    if "-json" in flags:
        print(json.dumps({types[0]: items}, indent=2))
    elif "-xml" in flags:
        content = [{"_dataType": types[0], "_items": items, "_SPCommandLineArguments": argv}]
        print(plistlib.dumps(content).decode(), end="")
    elif types[0] == "SPAirPortDataType":
        bsd_getopt.fail_as_not_emulated("system_profiler", "SPAirPortDataType as text")
    else:
        rows = "".join(
            f"      {name.removeprefix('spethernet_')}: {value}\n"
            for name, value in items[0].items()
            if name != "_name"
        )
        print(f"{HEADS[types[0]]}:\n\n    {items[0]['_name']}:\n\n{rows}")
    return 0


def _items(kind: str) -> list[dict[str, object]]:
    if kind == "SPEthernetDataType":
        return [_card()]
    en0: dict[str, object] = {"_name": "en0", "spairport_status_information": "spairport_status_connected"}
    if os.geteuid() != 0:  # users report that root sees no network
        en0["spairport_current_network_information"] = {
            "_name": "<redacted>", "spairport_network_channel": "40 (5GHz, 80MHz)", "spairport_network_mcs": 9,
            "spairport_network_phymode": "802.11ac", "spairport_network_rate": 866,
            "spairport_signal_noise": "-54 dBm / -92 dBm",
        }  # fmt: skip
    interfaces = [en0, {"_name": "awdl0", "spairport_current_network_information": {"_name": "<redacted>"}}]
    return [{"spairport_airport_interfaces": interfaces}] if call("fault", name="wifi") else []


def _card() -> dict[str, object]:
    link = find("en0")
    assert link is not None
    return {
        "_name": "Emulated Ethernet", "spethernet_avb_support": "spethernet_avb_unsupported",
        "spethernet_BSD_Device_Name": "en0", "spethernet_bus": "Virtual", "spethernet_driver": "emulated",
        "spethernet_mac_address": link.mac, "spethernet_max_link_speed": "10 Gb/s",
        "spethernet_product_name": "Emulated Ethernet", "spethernet_vendor_name": "Emulated",
    }  # fmt: skip
