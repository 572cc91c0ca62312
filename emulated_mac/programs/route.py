"""route(8): ``route -n get`` (network_cmds: route.c; seen on macOS 26)."""

import _socket
import os
import sys

from .. import bsd_getopt, profiles
from ..interfaces import Interface, dotted_address, find

USAGE = "usage: route [-dnqtv] command [[modifiers] args]"


def main(argv: list[str]) -> int:
    """Print the route to a host."""
    _, words = bsd_getopt.parse("route", argv, "dnqtv", USAGE, 64)
    if not words:
        bsd_getopt.fail_with_usage(USAGE, 64)
    if words[0] != "get":
        if words[0] in ("add", "delete", "change", "flush", "monitor"):
            bsd_getopt.fail_as_not_emulated("route", words[0])
        bsd_getopt.fail_with_usage(USAGE, 64)
    modifiers = {word for word in words[1:] if word in ("-inet", "-inet6", "-host")}
    words = [word for word in words[1:] if word not in modifiers]
    if len(words) != 1:
        bsd_getopt.fail_with_usage(USAGE, 64)
    if "-inet6" in modifiers:
        return _get6(words[0])
    try:
        address = _socket.gethostbyname(words[0])
    except OSError:
        bsd_getopt.fail(f"route: bad address: {words[0]}", 68)
    return _get(int.from_bytes(_socket.inet_aton(address), "big"))


def _get(ip: int) -> int:
    loopback, ethernet = find("lo0"), find("en0")
    assert loopback is not None
    target = dotted_address(ip)
    if ip >> 24 == 127:
        _show(target, loopback, "<UP,HOST,DONE,LOCAL>", pipes=49152)
        return 0
    address = ethernet.address if ethernet else None
    if ethernet is None or address is None or not address.reaches(ip):
        return _fail_without_route()
    if ip == address.ip and profiles.current().number >= (10, 15):
        _show(target, ethernet, "<UP,DONE,CLONING,STATIC>", mask="255.255.255.255")
    elif ip == address.ip:
        _show(target, loopback, "<UP,HOST,DONE,LLINFO,STATIC>")
    else:
        _show(target, ethernet, "<UP,HOST,DONE,LLINFO,WASCLONED,IFSCOPE,IFREF>")
    return 0


def _get6(text: str) -> int:
    """Only literals are addresses here; the host's own ones lead to lo0 in every version."""
    bare, has_zone, zone = text.partition("%")
    loopback, ethernet = find("lo0"), find("en0")
    assert loopback is not None
    try:
        target = _socket.inet_ntop(_socket.AF_INET6, _socket.inet_pton(_socket.AF_INET6, bare))
    except OSError:
        bsd_getopt.fail(f"{text}: nodename nor servname provided, or not known", 1)
    if target == "::1" or (ethernet and target in (ethernet.local_ipv6, *(own.text for own in ethernet.ipv6))):
        _show(target + has_zone + zone, loopback, "<UP,HOST,DONE,LOCAL>")
    elif ethernet and (
        zone == ethernet.name if has_zone else any(address.reaches(target) for address in ethernet.ipv6)
    ):
        _show(target + has_zone + zone, ethernet, "<UP,HOST,DONE,LLINFO,WASCLONED,IFSCOPE,IFREF>")
    else:
        return _fail_without_route()
    return 0


def _fail_without_route() -> int:
    print("route: writing to routing socket: not in table", file=sys.stderr)
    return 0 if profiles.current().number < (10, 10) else 1


def _show(target: str, way: Interface, flags: str, mask: str = "", pipes: int = 0) -> None:
    print(f"   route to: {target}\ndestination: {target}")
    if mask:
        print(f"       mask: {mask}")
    print(f"  interface: {way.name}\n      flags: {flags}")
    print(" recvpipe  sendpipe  ssthresh  rtt,msec    rttvar  hopcount      mtu     expire")
    expire = 1200 - os.getpid() % 100 if "WASCLONED" in flags else 0
    print("".join(f"{value:8d}  " for value in (pipes, pipes, 0, 0, 0, 0, way.mtu, expire)).rstrip() + " ")
