"""ping(8) (network_cmds: ping.c), with the limit that xnu puts on its sockets (raw_ip.c, ip_icmp.c)."""

import os
import socket
import sys
import time

from .. import bsd_getopt
from ..echo import Echoes, socket_limit

USAGE = """\
usage: ping [-AaDdfnoQqRrv] [-c count] [-G sweepmaxsize]
            [-g sweepminsize] [-h sweepincrsize] [-i wait]
            [-l preload] [-M mask | time] [-m ttl] [-p pattern]
            [-S src_addr] [-s packetsize] [-t timeout][-W waittime]
            [-z tos] host
       ping [-AaDdfLnoQqRrv] [-c count] [-I iface] [-i wait]
            [-l preload] [-M mask | time] [-m ttl] [-p pattern] [-S src_addr]
            [-s packetsize] [-T ttl] [-t timeout] [-W waittime]
            [-z tos] mcast-group
Apple specific options (to be specified before mcast-group or host like all options)
            -b boundif           # bind the socket to the interface
            -k traffic_class     # set traffic class socket option
            -K net_service_type  # set traffic class socket options
            --apple-connect       # call connect(2) in the socket
            --apple-time          # display current time"""
IP_MTU_DISCOVER, IP_PMTUDISC_DONT, IP_PMTUDISC_PROBE = 10, 0, 3
IP_HEADER_BYTES = 20


class Run(Echoes):
    """One ping over IPv4."""

    family, protocol = socket.AF_INET, socket.IPPROTO_ICMP

    def __init__(self, address: str, values: dict[str, str], flags: set[str]):
        timeout = _number(values.get("t"), "timeout", 0.0)
        payload_bytes = int(_number(values.get("s"), "packet size", 56))
        count = int(_number(values.get("c"), "count of packets to transmit", 0)) or None
        super().__init__((address, 0), payload_bytes, count, flags)
        self.address = address
        self.interval_s = _number(values.get("i"), "timing interval", 1.0)
        self.wait_s = _number(values.get("W"), "timing interval", 10_000) / 1000  # -W, in milliseconds
        self.deadline = time.monotonic() + timeout if timeout else self.deadline
        # root's packets have their own header with -D; replies come with theirs
        self.longest_request = socket_limit("maxdgram") - (IP_HEADER_BYTES if os.geteuid() == 0 and "D" in flags else 0)
        self.longest_reply = socket_limit("recvspace") - IP_HEADER_BYTES

    def _prepare(self, sock: socket.socket) -> None:
        probe = IP_PMTUDISC_PROBE if "D" in self.flags else IP_PMTUDISC_DONT
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, probe)

    def _tell_refusal(self, reason: str) -> None:
        print(f"ping: sendto: {reason}", file=sys.stderr, flush=True)

    def _tell_failure(self, reason: str) -> None:
        print(f"ping: recvfrom: {reason}", file=sys.stderr, flush=True)

    def _tell_reply(self, byte_count: int, number: int, round_trip_ms: float) -> None:
        words = f"{byte_count} bytes from {self.address}: icmp_seq={number} ttl=64 time={round_trip_ms:.3f} ms"
        print(words, flush=True)

    def _tell_timeout(self, number: int) -> None:
        print(f"Request timeout for icmp_seq {number}", flush=True)


def main(argv: list[str]) -> int:
    """Send, wait, print the summary: 0 with a reply, 2 without."""
    options, words = bsd_getopt.parse("ping", argv, "AaDdfnoQqRrvc:G:g:h:i:l:M:m:p:S:s:t:W:z:LI:T:b:k:K:", USAGE, 64)
    if len(words) != 1:
        bsd_getopt.fail_with_usage(USAGE, 64)
    values, flags = dict(options), {letter for letter, _ in options}
    if lacking := flags & set("fGghlMmpRSTzIbkK"):
        bsd_getopt.fail_as_not_emulated("ping", f"-{min(lacking)}")
    try:
        address = socket.gethostbyname(words[0])
    except (OSError, UnicodeError):
        bsd_getopt.fail(f"ping: cannot resolve {words[0]}: Unknown host", 68)
    run = Run(address, values, flags)
    print(f"PING {words[0]} ({address}): {run.payload_bytes} data bytes", flush=True)
    run.send_all()
    return run.sum_up(f"{words[0]} ping", "stddev")


def _number(text: str | None, name: str, default: float) -> float:
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if value < 0:
        bsd_getopt.fail(f"ping: invalid {name}: `{text}'", 64)
    return value
