"""Reading what the commands of Linux print: pure functions, which raise ValueError for what they cannot read."""

from __future__ import annotations

import re
from ipaddress import IPv4Interface

from lab.base.untrusted import count, from_json, word
from lab.hosts.fields import interface_name
from lab.platforms.facts import parse_facts
from lab.platforms.findings import Radio


def parse_linux_facts(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """As :func:`parse_facts`, with what only Linux says."""
    values, tools = parse_facts(text, "os", "cpu", "cores", "memory_kib", "available_kib")
    for name in ("cores", "memory_kib", "available_kib"):
        count(values[name])
    if values.get("congestion"):
        word(values["congestion"], "[A-Za-z0-9_-]{1,15}")  # TCP_CA_NAME_MAX of the kernel is 16, with its NUL
    return values, tools


def parse_route(text: str) -> str:
    """The interface that leads to a peer, of ``ip -j route get``; empty where that is this machine itself."""
    try:
        route = from_json(text)[0]
        return "" if route.get("type") == "local" else interface_name(str(route["dev"]))
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("no route") from error


def parse_addresses(text: str) -> dict[str, tuple[str, ...]]:
    """The addresses of each interface, of ``ip -j address show``."""
    try:
        links = [link for link in from_json(text) if "ifname" in link]
        return {
            link["ifname"]: tuple(info["local"] for info in link.get("addr_info", ()) if "local" in info)
            for link in links
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError("no addresses") from error


def parse_networks(text: str) -> dict[str, tuple[IPv4Interface, ...]]:
    """The IPv4 addresses of each interface, with their networks, of ``ip -j -4 address show``."""
    try:
        links = [link for link in from_json(text) if "ifname" in link]
        return {
            interface_name(link["ifname"]): tuple(
                IPv4Interface(f"{info['local']}/{count(info['prefixlen'])}") for info in link.get("addr_info", ())
            )
            for link in links
        }
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("no addresses") from error


def parse_link(text: str) -> tuple[int, int | None, int | None]:
    """The MTU, the least and the most that it may be, of ``ip -j -d link show``; None where that is not said.

    Older versions print empty objects around the one link.
    """
    try:
        link = next(link for link in from_json(text) if isinstance(link, dict) and "mtu" in link)
    except (TypeError, StopIteration) as error:
        raise ValueError("no interface") from error
    least, most = (link.get(name) for name in ("min_mtu", "max_mtu"))
    return count(link["mtu"]), None if least is None else count(least), None if most is None else count(most)


def parse_radio(text: str) -> Radio:
    """Of ``iw dev NAME link`` and the row of /proc/net/wireless, as far as they are there.

    That row holds status, quality, level and noise; -256 is a noise that the driver does not know (its drivers count
    in a byte: include/uapi/linux/wireless.h).
    """
    rate = re.search(r"^\s+tx bitrate: ([0-9]{1,6}(?:\.[0-9])?) MBit/s", text, re.MULTILINE)
    signal = re.search(r"^\s+signal: (-[0-9]{1,3}) dBm", text, re.MULTILINE)
    row = re.search(r"^ *\S+: [0-9a-f]{4} +[0-9]{1,3}\. +(-?[0-9]{1,3})\. +(-?[0-9]{1,3})\. ", text, re.MULTILINE)
    level, noise = (int(row[1]), int(row[2])) if row else (0, 0)
    return Radio(
        round(float(rate[1]) * 10**6) if rate else None,
        int(signal[1]) if signal else level if level < 0 else None,
        noise if -256 < noise < 0 else None,
    )
