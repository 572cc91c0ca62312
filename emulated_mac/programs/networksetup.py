"""networksetup(8). It prints errors to standard output (seen on macOS 10.13 to 26). The words of -getinfo and
-listnetworkserviceorder come from public outputs. -setmanual works without a router, as people use it on a cable
between two Macs, though its help names one. Its message for a wrong address is not known.
"""

from __future__ import annotations

import _socket
import sys

from .. import bsd_getopt, profiles
from ..interfaces import MAX_MTU, MEDIA, Interface, dotted_address, find, set_mtu
from ..kernel_client import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PORT = "Ethernet"
WIRELESS = ("AirPort", "Wi-Fi")
NOT_VALID = "** Error: The parameters were not valid."
NOT_A_PORT = "{} is not a recognized hardware port or device.\n" + NOT_VALID
NOT_A_SERVICE = "{} is not a recognized network service.\n" + NOT_VALID
HEADING = "An asterisk (*) denotes that a network service is disabled."
NOT_ROOT = "** Error: Command requires admin privileges."
BY_SERVICE = ("-getdnsservers", "-getsearchdomains", "-setdnsservers", "-getwebproxy", "-setbootp")


def main(argv: list[str]) -> int:
    """Run the verb, in letters of any case."""
    verbs: dict[str, Callable[[list[str]], int]] = {
        "-listallhardwareports": _ports, "-listallnetworkservices": _services, "-getmtu": _get_mtu,
        "-setmtu": _set_mtu, "-listvalidmturange": _range, "-getmedia": _media,
        "-setmtuandmediaautomatically": _automatic, "-listnetworkserviceorder": _order,
        "-getinfo": _get_info, "-setmanual": _set_manual, "-setdhcp": _set_dhcp,
    }  # fmt: skip
    verb = argv[0].lower() if argv else "-help"
    if verb in BY_SERVICE:
        return _by_service(argv)
    if verb not in verbs:
        print("** Error: Unrecognized parameter." if argv else "networksetup Help Information")
        return 4
    return verbs[verb](argv[1:])


def _by_service(argv: list[str]) -> int:
    if _is_service(argv[1:]):
        bsd_getopt.fail_as_not_emulated("networksetup", argv[0])
    return 4


def _is_service(words: list[str]) -> bool:
    """Whether the words begin with a service, else print the error. A device is no service: en0 is refused."""
    if words[:1] != [PORT]:
        print(NOT_A_SERVICE.format(words[0]) if words else NOT_VALID)
    return words[:1] == [PORT]


def _find_port(words: list[str]) -> Interface | None:
    port = find("en0") if words and words[0] in (PORT, "en0") else None
    if port is None:
        print(NOT_A_PORT.format(words[0] if words else ""))
    return port


def _ports(words: list[str]) -> int:
    link = find("en0")
    assert link is not None
    port = WIRELESS[profiles.current().number >= (10, 7)] if call("fault", name="wifi") else PORT
    print(f"\nHardware Port: {port}\nDevice: en0\nEthernet Address: {link.mac}")
    print("\nVLAN Configurations\n===================")
    return 0


def _services(words: list[str]) -> int:
    print(f"{HEADING}\n{PORT}")
    return 0


def _order(words: list[str]) -> int:
    print(f"{HEADING}\n(1) {PORT}\n(Hardware Port: {PORT}, Device: en0)\n")
    return 0


def _get_info(words: list[str]) -> int:
    if not _is_service(words):
        return 4
    link, is_manual = find("en0"), call("is_manual", name="en0")
    assert link is not None
    lines = [f"{'Manual' if is_manual else 'DHCP'} Configuration"]
    if link.address:
        ip, mask = dotted_address(link.address.ip), dotted_address(link.address.mask)
        lines += [f"IP address: {ip}", f"Subnet mask: {mask}", "Router: none"]
    lines += [] if is_manual else ["Client ID: "]
    lines += ["IPv6: Automatic", "IPv6 IP address: none", "IPv6 Router: none", f"Ethernet Address: {link.mac}"]
    print("\n".join(lines))
    return 0


def _set_manual(words: list[str]) -> int:
    if not _is_service(words):
        return 4
    try:
        ip, mask = (int.from_bytes(_socket.inet_pton(_socket.AF_INET, word), "big") for word in words[1:3])
    except (OSError, ValueError):
        print(NOT_VALID)
        return 4
    if len(words) > 4:  # at most a router follows
        print(NOT_VALID)
        return 4
    if words[3:] not in ([], [""]):
        bsd_getopt.fail_as_not_emulated("networksetup", "a router")
    return _change("set_manual", ip=ip, mask=mask)


def _set_dhcp(words: list[str]) -> int:
    if not _is_service(words):
        return 4
    if len(words) > 1:
        bsd_getopt.fail_as_not_emulated("networksetup", "a client id")
    return _change("set_dhcp")


def _change(name: str, **arguments: int) -> int:
    try:
        call(name, name="en0", **arguments)
    except PermissionError:
        print(NOT_ROOT)
        return 14
    return 0


def _get_mtu(words: list[str]) -> int:
    link = _find_port(words)
    if link is None:
        return 4
    print(f"Active MTU: {link.mtu} (Current Setting: {link.mtu})")
    return 0


def _range(words: list[str]) -> int:
    if _find_port(words) is None:
        return 4
    print(
        f"Valid MTU Range: 1280-{MAX_MTU}" if profiles.current().number >= (10, 9) else f"Valid MTU Range: 72-{MAX_MTU}"
    )
    return 0


def _media(words: list[str]) -> int:
    link = _find_port(words)
    if link is None:
        return 4
    active = f"{MEDIA.get(link.mbit_per_s, '10Gbase-T')} <full-duplex>" if link.is_active else "none"
    print(f"Current: autoselect\nActive: {active}")
    return 0


def _set_mtu(words: list[str]) -> int:
    link = _find_port(words)
    if link is None or len(words) != 2 or not words[1].isdigit():
        return 4
    if not 1280 <= int(words[1]) <= MAX_MTU:
        print(f"{words[1]} is not in the range of 1280-{MAX_MTU}.\n** Error: The parameters were not valid.")
        return 4
    return _apply(int(words[1]))


def _automatic(words: list[str]) -> int:
    return 4 if _find_port(words) is None else _apply(1500)


def _apply(value: int) -> int:
    try:
        set_mtu("en0", value)
    except PermissionError:
        print(NOT_ROOT, file=sys.stdout)
        return 14
    return 0
