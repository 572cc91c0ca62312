"""ifconfig(8) (network_cmds: ifconfig.c)."""

import os
import sys

from .. import bsd_getopt, profiles
from ..interfaces import MAX_MTU, MEDIA, Interface, dotted_address, find, names, set_mtu, set_up
from ..kernel_client import call

USAGE = """\
usage: ifconfig [-f type:format] interface address_family [address [dest_address]]
                [parameters]
       ifconfig interface create
       ifconfig -a [-d] [-m] [-u] [-v] [address_family]
       ifconfig -l [-d] [-u] [address_family]
       ifconfig [-d] [-m] [-u] [-v]"""
WIRELESS_RATES = "rate: 433.35 Mbps [eff] / 866.70 Mbps"


def main(argv: list[str]) -> int:
    """Show interfaces, or change one."""
    options, words = bsd_getopt.parse("ifconfig", argv, "abdf:lmrLuv", USAGE)
    flags = {letter for letter, _ in options}
    if "l" in flags:
        print(" ".join(names()))
        return 0
    if "a" in flags or not words:
        for name in names():
            show(_must(name), flags)
        return 0
    interface = _must(words[0])
    if len(words) == 1:
        show(interface, flags)
        return 0
    return _change(interface, words[1:])


def _must(name: str) -> Interface:
    interface = find(name)
    if interface is None:
        bsd_getopt.fail(f"ifconfig: interface {name} does not exist")
    return interface


def _change(interface: Interface, words: list[str]) -> int:
    """Carry out parameters in their order."""
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("inet", "inet6", "ether"):
            continue
        if word in ("up", "down"):
            _set_up(interface.name, word == "up")
        elif word == "mtu":
            if not words:
                bsd_getopt.fail("ifconfig: 'mtu' requires argument")
            _set_mtu(interface.name, words.pop(0))
        elif word in ("alias", "-alias", "delete", "add", "media", "mediaopt", "lladdr", "netmask", "broadcast"):
            bsd_getopt.fail_as_not_emulated("ifconfig", word)
        else:
            bsd_getopt.fail(f"ifconfig: {word}: bad value")
    return 0


def _set_up(name: str, up: bool) -> None:
    try:
        set_up(name, up)
    except PermissionError:
        bsd_getopt.fail("ifconfig: ioctl (SIOCSIFFLAGS): permission denied")


def _set_mtu(name: str, text: str) -> None:
    """Set the MTU. Like setifmtu(), only warn if the kernel refuses: the exit code stays 0 on every version."""
    try:
        value = int(text) if text.isdigit() else 0  # atoi(3)
        if os.geteuid() == 0 and call("fault", name="mtu-refused"):
            raise OSError(22, "Invalid argument")
        set_mtu(name, value)
    except OSError as error:
        print(f"ifconfig: ioctl (set mtu): {error.strerror}", file=sys.stderr)
    else:
        call("mtu_changed", name=name)


def show(interface: Interface, flags: set[str]) -> None:
    """One interface: a line that starts with its name, and lines that start with a tab."""
    number = profiles.current().number
    verbose = "v" in flags
    lines = _loopback(interface, number) if interface.name == "lo0" else _ethernet(interface, number, flags)
    head = f"{interface.name}: flags={_flags(interface)} mtu {interface.mtu}"
    print(head + (f" index {interface.index}" if verbose and number >= (10, 9) else ""))
    print("".join(f"\t{line}\n" for line in lines), end="")


def _flags(interface: Interface) -> str:
    if interface.name == "lo0":
        return "8049<UP,LOOPBACK,RUNNING,MULTICAST>"
    # RUNNING means that the driver runs; the line "status" has the state of the cable
    return (
        "8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST>"
        if interface.is_up
        else "8822<BROADCAST,SMART,SIMPLEX,MULTICAST>"
    )


def _loopback(interface: Interface, number: tuple[int, ...]) -> list[str]:
    if number < (10, 7):
        return [
            "inet6 ::1 prefixlen 128 ",
            "inet6 fe80::1%lo0 prefixlen 64 scopeid 0x1 ",
            "inet 127.0.0.1 netmask 0xff000000 ",
        ]
    lines = [
        "inet 127.0.0.1 netmask 0xff000000 ",
        "inet6 ::1 prefixlen 128 ",
        "inet6 fe80::1%lo0 prefixlen 64 scopeid 0x1 ",
    ]
    if number >= (10, 13):
        lines = ["options=1203<RXCSUM,TXCSUM,TXSTATUS,SW_TIMESTAMP>", *lines]
    return [*lines, "nd6 options=201<PERFORMNUD,DAD>"] if number >= (10, 9) else lines


def _ethernet(interface: Interface, number: tuple[int, ...], flags: set[str]) -> list[str]:
    lines = ["options=567<RXCSUM,TXCSUM,VLAN_MTU,TSO4,TSO6,AV,CHANNEL_IO>"] if number >= (10, 13) else []
    lines.append(f"ether {interface.mac}" + (" " if number < (11,) else ""))
    if interface.local_ipv6:
        secured = " secured" if number >= (10, 12) else ""
        lines.append(
            f"inet6 {interface.local_ipv6}%{interface.name} prefixlen 64{secured} scopeid {interface.index:#x} "
        )
    if interface.address:
        ip, mask, broadcast = interface.address.ip, interface.address.mask, interface.address.broadcast
        lines.append(f"inet {dotted_address(ip)} netmask {mask:#010x} broadcast {dotted_address(broadcast)}")
    lines += [f"inet6 {address.text} prefixlen {address.prefix_length} " for address in interface.ipv6]
    if number >= (10, 9):
        lines.append("nd6 options=201<PERFORMNUD,DAD>")
    medium = MEDIA.get(interface.mbit_per_s, "10Gbase-T")
    in_use = f"{medium} <full-duplex>" if interface.is_active else "none"
    lines.append("media: autoselect" + ("" if call("fault", name="wifi") else f" ({in_use})"))
    lines.append(f"status: {'active' if interface.is_active else 'inactive'}")
    if "m" in flags:
        lines += ["supported media:", *(f"\tmedia {name}" for name in ("autoselect", medium))]
    return lines + (_verbose(interface, number) if "v" in flags else [])


def _verbose(interface: Interface, number: tuple[int, ...]) -> list[str]:
    if number < (10, 9):
        return []
    speed = interface.mbit_per_s
    rate = f"{speed / 1000:.2f} Gbps" if speed >= 1000 else f"{speed:.2f} Mbps"
    if wireless := call("fault", name="wifi"):
        scheduler, rates = "FQ_CODEL (driver managed)", [f"uplink {WIRELESS_RATES}", f"downlink {WIRELESS_RATES} [max]"]
    else:
        scheduler, rates = "QFQ", [f"link rate: {rate}"]
    lines = [f"type: {'Wi-Fi' if wireless else 'Ethernet'}", "link quality: 100 (good)"]
    lines += ["state availability: 0 (true)", f"scheduler: {scheduler}", *(rates if interface.is_active else [])]
    return [*lines, f"max mtu: {MAX_MTU}", "qosmarking enabled: no mode: none"]
