"""networksetup(8). Its errors are on standard output (seen on macOS 10.13 to 26)."""

from __future__ import annotations

import sys

from .. import bsd_getopt, profiles
from ..interfaces import MAX_MTU, MEDIA, Interface, find, set_mtu
from ..kernel_client import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PORT = "Ethernet"
WIRELESS = ("AirPort", "Wi-Fi")
NOT_A_PORT = "{} is not a recognized hardware port or device.\n** Error: The parameters were not valid."
NOT_A_SERVICE = "{} is not a recognized network service.\n** Error: The parameters were not valid."
NOT_ROOT = "** Error: Command requires admin privileges."
BY_SERVICE = ("-getdnsservers", "-getinfo", "-getsearchdomains", "-setdnsservers", "-getwebproxy", "-setmanual")


def main(argv: list[str]) -> int:
    """Run the verb, in letters of any case."""
    verbs: dict[str, Callable[[list[str]], int]] = {
        "-listallhardwareports": _ports, "-listallnetworkservices": _services, "-getmtu": _get_mtu,
        "-setmtu": _set_mtu, "-listvalidmturange": _range, "-getmedia": _media,
        "-setmtuandmediaautomatically": _automatic,
    }  # fmt: skip
    verb = argv[0].lower() if argv else "-help"
    if verb in BY_SERVICE:
        return _by_service(argv)
    if verb not in verbs:
        print("** Error: Unrecognized parameter." if argv else "networksetup Help Information")
        return 4
    return verbs[verb](argv[1:])


def _by_service(argv: list[str]) -> int:
    """A service is no device: en0 is refused, and that it is one does not help."""
    if len(argv) < 2:
        print("** Error: The parameters were not valid.")
        return 4
    if argv[1] == PORT:
        bsd_getopt.fail_as_not_emulated("networksetup", argv[0])
    print(NOT_A_SERVICE.format(argv[1]))
    return 4


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
    print(f"An asterisk (*) denotes that a network service is disabled.\n{PORT}")
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
