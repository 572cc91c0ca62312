"""What a Mac says of its Wi-Fi: pure functions, which raise ValueError for what they cannot read."""

from __future__ import annotations

import plistlib
import re
from collections.abc import Iterator
from xml.parsers.expat import ExpatError

from lab.platforms.findings import Radio

UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}


def parse_uplink(text: str) -> int | None:
    """Bits per second at which the radio sends at most now, of ``ifconfig -v``; None before 10.9.

    Of two rates in the line ``uplink rate`` the first is the driver's estimate of what is left for data.
    """
    line = re.search(r"^\s+uplink rate: (.*)$", text, re.MULTILINE)
    rates = re.findall(r"([0-9]{1,6}\.[0-9]{2}) ([KMG])bps", line[1]) if line else []
    return round(float(rates[-1][0]) * UNITS[rates[-1][1]]) if rates else None


def parse_airport(text: str, interface: str) -> Radio:
    """The network that an interface is in, of ``system_profiler -xml SPAirPortDataType``; empty where it is in none."""
    try:
        content = plistlib.loads(text.encode(), fmt=plistlib.FMT_XML)
    except (ExpatError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, ValueError) as error:
        raise ValueError(f"not a property list: {error}") from error
    if not isinstance(content, list):
        raise ValueError("not of system_profiler")
    for card in _cards(content):
        network = card.get("spairport_current_network_information")
        if card.get("_name") == interface and isinstance(network, dict):
            signal, noise = _signal_and_noise(str(network.get("spairport_signal_noise", "")))
            return Radio(_transmit_rate(network.get("spairport_network_rate")), signal, noise)
    return Radio()


def _cards(content: object) -> Iterator[dict[str, object]]:
    """Each interface of each entry; what is none is passed over."""
    for section in _dicts(content):
        for item in _dicts(section.get("_items")):
            yield from _dicts(item.get("spairport_airport_interfaces"))


def _dicts(entries: object) -> Iterator[dict[str, object]]:
    yield from (entry for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else ()


def _signal_and_noise(text: str) -> tuple[int | None, int | None]:
    """Of such as ``-54 dBm / -92 dBm``."""
    match = re.fullmatch(r"(-[0-9]{1,3}) dBm(?: / (-[0-9]{1,3}) dBm)?", text)
    return (int(match[1]), int(match[2]) if match[2] else None) if match else (None, None)


def _transmit_rate(value: object) -> int | None:
    """Bits per second, of Mbit/s as a number or as text."""
    return int(str(value)) * 10**6 if re.fullmatch(r"[1-9][0-9]{0,5}", str(value)) else None
