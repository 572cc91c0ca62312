"""ping6(8) (network_cmds: ping6.c), with the limit that xnu puts on its sockets (raw_ip6.c, icmp6.c)."""

from __future__ import annotations

import os
import socket
import sys

from .. import bsd_getopt, mac_errors, profiles
from ..echo import ICMP_HEADER_BYTES, Echoes, socket_limit
from ..interfaces import LINUX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    Place = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]

REST_OF_USAGE = "[-p pattern] [-S sourceaddr] [-s packetsize] [-z tclass] "
USAGE = f"""\
usage: ping6 [-DdfHmnNoqrRtvwW] [-a addrtype] [-b bufsiz] [-c count]
             [-g gateway] [-h hoplimit] [-I interface] [-i wait] [-l preload] [-P policy]
             {REST_OF_USAGE}[-k traffic_class] [-K net_service_type] [hops ...] host
Apple specific options (to be specified before hops or host like all options)
            -b boundif           # bind the socket to the interface
            -k traffic_class     # set traffic class socket option
            -K net_service_type  # set traffic class socket options
            --apple-connect      # call connect(2) in the socket
            --apple-time         # display current time"""
OLD_USAGE = f"""\
usage: ping6 [-dfHmnNoqtvwW] [-a addrtype] [-b bufsiz] [-c count] [-g gateway]
             [-h hoplimit] [-I interface] [-i wait] [-l preload] [-P policy]
             {REST_OF_USAGE}[hops ...] host"""
LETTERS, LATER_LETTERS = "a:b:c:dfHg:h:I:i:l:mnNop:P:qS:s:tvwWz:", "B:CDk:K:rR"  # before 10.9, and since
EMULATED = set("bcdDimnoqsv")
IPV6_MTU_DISCOVER, IPV6_MTU = 23, 24  # of Linux
IPV6_PMTUDISC_WANT, IPV6_PMTUDISC_PROBE = 1, 3
IPV6_HEADER_BYTES = 40
MIN_MTU = 1280  # of IPv6: RFC 8200
MOST_BYTES = 131072 - IPV6_HEADER_BYTES - ICMP_HEADER_BYTES
UNWARNED_BYTES, OWN_BUFFER_BYTES = 8 * 1024, 48 * 1024
DISCARD_PORT = 9  # nothing is sent there


class Run(Echoes):
    """One ping over IPv6."""

    family, protocol = socket.AF_INET6, socket.IPPROTO_ICMPV6
    request, reply = 128, 129

    def __init__(self, host: str, place: Place, values: dict[str, str], flags: set[str]):
        payload_bytes = _number(values.get("s"), "datalen value", 56)
        if payload_bytes > MOST_BYTES:
            _fail(f"datalen value too large, maximum is {MOST_BYTES}")
        super().__init__(place, payload_bytes, _number(values.get("c"), "number of packets", 0) or None, flags)
        self.host, self.address = host, _shown(place)
        self.interval_s = _interval_s(values.get("i"))
        self.wait_s += self.interval_s  # it waits for the next moment to send, and then for the reply: no option
        buffer_bytes = int(values.get("b", "0") or 0)
        if payload_bytes > (buffer_bytes or UNWARNED_BYTES):
            _warn("you need -b to increase socket buffer size")
        self.longest_request = buffer_bytes or socket_limit("maxdgram")
        self.longest_reply = (buffer_bytes or OWN_BUFFER_BYTES) - IPV6_HEADER_BYTES

    def _prepare(self, sock: socket.socket) -> None:
        """Without -D the kernel fragments: to the least MTU, or with -m to the MTU of the path."""
        probe = IPV6_PMTUDISC_PROBE if "D" in self.flags else IPV6_PMTUDISC_WANT
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, probe)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_DONTFRAG, int("D" in self.flags))
        if not {"D", "m"} & set(self.flags):
            sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU, MIN_MTU)

    def _tell_refusal(self, reason: str) -> None:
        _warn(f"sendmsg: {reason}")
        print(f"ping6: wrote {self.host} {self.payload_bytes + ICMP_HEADER_BYTES} chars, ret=-1", flush=True)

    def _tell_failure(self, reason: str) -> None:
        _warn(f"recvmsg: {reason}")

    def _tell_reply(self, byte_count: int, number: int, round_trip_ms: float) -> None:
        words = f"{byte_count} bytes from {self.address}, icmp_seq={number} hlim=64 time={round_trip_ms:.3f} ms"
        print(words, flush=True)


def main(argv: list[str]) -> int:
    """Send, wait, print the summary: 0 with a reply, 2 without."""
    is_old = profiles.current().number < (10, 9)
    letters, usage = (LETTERS, OLD_USAGE) if is_old else (LETTERS + LATER_LETTERS, USAGE)
    options, words = bsd_getopt.parse("ping6", argv, letters, usage)
    if not words:
        bsd_getopt.fail_with_usage(usage)
    values, flags = dict(options), {letter for letter, _ in options}
    if lacking := flags - EMULATED:
        bsd_getopt.fail_as_not_emulated("ping6", f"-{min(lacking)}")
    if len(words) > 1:
        bsd_getopt.fail_as_not_emulated("ping6", "a route by hops")
    try:
        place = socket.getaddrinfo(words[0], DISCARD_PORT, socket.AF_INET6, socket.SOCK_DGRAM)[0][4]
    except (OSError, UnicodeError):
        _fail("getaddrinfo -- nodename nor servname provided, or not known")
    run = Run(words[0], place, values, flags)
    length = run.payload_bytes + ICMP_HEADER_BYTES
    sizes = f"{length + IPV6_HEADER_BYTES}={IPV6_HEADER_BYTES}+{ICMP_HEADER_BYTES}+{run.payload_bytes}"
    print(f"PING6({sizes} bytes) {_source(place)} --> {run.address}", flush=True)
    run.send_all()
    return run.sum_up(f"{words[0]} ping6", "std-dev")


def _source(place: Place) -> str:
    """The address that it will send from."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(place)
        except OSError as error:
            _fail(f"UDP connect: {mac_errors.text(error.errno or 0)}")
        return _shown(probe.getsockname())


def _shown(place: Place) -> str:
    """An address as getnameinfo(3) of a Mac shows it, with the Mac's name of its interface."""
    bare, percent, zone = socket.getnameinfo(place, socket.NI_NUMERICHOST)[0].partition("%")
    names = {linux: name for name, linux in LINUX.items()}
    return f"{bare}{percent}{names.get(zone, zone)}"


def _number(text: str | None, name: str, default: int) -> int:
    """A count of more than nothing."""
    if text is None:
        return default
    if not text.isdigit() or int(text) == 0:
        _fail(f"illegal {name} -- {text}")
    return int(text)


def _interval_s(text: str | None) -> float:
    """Seconds between packets, of which only root may take less than one."""
    try:
        value = float(text or 1)
    except ValueError:
        _fail(f"illegal timing interval {text}")
    if value < 1 and os.getuid() != 0:
        _fail("Operation not permitted: only root may use interval < 1s")
    return value


def _warn(message: str) -> None:
    sys.stdout.flush()
    print(f"ping6: {message}", file=sys.stderr, flush=True)


def _fail(message: str) -> NoReturn:
    bsd_getopt.fail(f"ping6: {message}")
