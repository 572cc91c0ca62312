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
    words = [word for word in words[1:] if word not in ("-inet", "-host")]
    if len(words) != 1:
        bsd_getopt.fail_with_usage(USAGE, 64)
    try:
        address = _socket.gethostbyname(words[0])
    except OSError:
        bsd_getopt.fail(f"route: bad address: {words[0]}", 68)
    return _get(int.from_bytes(_socket.inet_aton(address), "big"))


def _get(ip: int) -> int:
    loopback, ethernet = find("lo0"), find("en0")
    assert loopback is not None
    if ip >> 24 == 127:
        _show(ip, loopback, "<UP,HOST,DONE,LOCAL>", pipes=49152)
        return 0
    address = ethernet.address if ethernet else None
    if ethernet is None or address is None or not address.reaches(ip):
        print("route: writing to routing socket: not in table", file=sys.stderr)
        return 0 if profiles.current().number < (10, 10) else 1
    if ip == address.ip and profiles.current().number >= (10, 15):
        _show(ip, ethernet, "<UP,DONE,CLONING,STATIC>", mask="255.255.255.255")
    elif ip == address.ip:
        _show(ip, loopback, "<UP,HOST,DONE,LLINFO,STATIC>")
    else:
        _show(ip, ethernet, "<UP,HOST,DONE,LLINFO,WASCLONED,IFSCOPE,IFREF>")
    return 0


def _show(ip: int, way: Interface, flags: str, mask: str = "", pipes: int = 0) -> None:
    print(f"   route to: {dotted_address(ip)}\ndestination: {dotted_address(ip)}")
    if mask:
        print(f"       mask: {mask}")
    print(f"  interface: {way.name}\n      flags: {flags}")
    print(" recvpipe  sendpipe  ssthresh  rtt,msec    rttvar  hopcount      mtu     expire")
    expire = 1200 - os.getpid() % 100 if "WASCLONED" in flags else 0
    print("".join(f"{value:8d}  " for value in (pipes, pipes, 0, 0, 0, 0, way.mtu, expire)).rstrip() + " ")
