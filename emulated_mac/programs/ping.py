"""ping(8) (network_cmds: ping.c), with the limit that xnu puts on its sockets (raw_ip.c, ip_icmp.c)."""

import errno
import os
import select
import socket
import struct
import sys
import time

from .. import bsd_getopt
from ..kernel_client import call

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
ECHO_REPLY = 0


class Run:
    """One ping from start to end; times are seconds."""

    def __init__(self, address: str, values: dict[str, str], flags: set[str]):
        timeout = _number(values.get("t"), "timeout", 0.0)
        self.address, self.flags = address, flags
        self.payload_bytes = int(_number(values.get("s"), "packet size", 56))
        self.count = int(_number(values.get("c"), "count of packets to transmit", 0)) or None
        self.interval_s = _number(values.get("i"), "timing interval", 1.0)
        self.wait_s = _number(values.get("W"), "timing interval", 10_000) / 1000  # -W, in milliseconds
        self.deadline = time.monotonic() + timeout if timeout else float("inf")
        self.sent = 0
        self.round_trips_ms: list[float] = []


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
    _send_all(run)
    return _sum_up(run, words[0])


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


def _send_all(run: Run) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as sock:
        probe = IP_PMTUDISC_PROBE if "D" in run.flags else IP_PMTUDISC_DONT
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, probe)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 18)
        # The kernel refuses a longer packet like one above the MTU, and drops a longer reply
        limit, buffer_bytes = (
            int(call("sysctl_read", name=f"net.inet.raw.{name}")) for name in ("maxdgram", "recvspace")
        )
        header = 28 if os.geteuid() == 0 and "D" in run.flags else 8
        while run.count is None or run.sent < run.count:
            if time.monotonic() > run.deadline:
                return
            started = time.monotonic()
            _send(sock, run, too_long=run.payload_bytes + header > limit)
            last = run.count is not None and run.sent >= run.count
            until = started + (run.wait_s if last else run.interval_s)
            if _receive(sock, run, min(until, run.deadline), is_lost=run.payload_bytes + 28 > buffer_bytes) and (
                last or "o" in run.flags
            ):
                return
            if not last:
                time.sleep(max(0.0, min(until, run.deadline) - time.monotonic()))


def _send(sock: socket.socket, run: Run, too_long: bool) -> None:
    packet = struct.pack("!BBHHH", 8, 0, 0, 0, run.sent & 0xFFFF) + bytes(
        index & 0xFF for index in range(run.payload_bytes)
    )
    run.sent += 1
    try:
        if too_long:
            raise OSError(errno.EMSGSIZE, "Message too long")
        sock.sendto(packet, (run.address, 0))
    except OSError as error:
        sys.stdout.flush()
        print(f"ping: sendto: {error.strerror}", file=sys.stderr, flush=True)


def _receive(sock: socket.socket, run: Run, until: float, is_lost: bool) -> bool:
    """Wait for the reply to the last packet and print it; False if none came in time."""
    started, number = time.monotonic(), run.sent - 1
    while (left := until - time.monotonic()) > 0:
        if not select.select([sock], [], [], left)[0]:
            break
        try:
            reply = sock.recv(65536)
        except OSError as error:  # a router reports that it is unreachable
            print(f"ping: recvfrom: {error.strerror}", file=sys.stderr, flush=True)
            continue
        if is_lost or reply[0] != ECHO_REPLY or struct.unpack_from("!H", reply, 6)[0] != number & 0xFFFF:
            continue
        run.round_trips_ms.append((time.monotonic() - started) * 1000)
        if "q" not in run.flags:
            print(
                f"{len(reply)} bytes from {run.address}: icmp_seq={number} ttl=64 time={run.round_trips_ms[-1]:.3f} ms",
                flush=True,
            )
        return True
    if "q" not in run.flags:
        print(f"Request timeout for icmp_seq {number}", flush=True)
    return False


def _sum_up(run: Run, name: str) -> int:
    received = len(run.round_trips_ms)
    lost = f", {100 * (run.sent - received) / run.sent:.1f}% packet loss" if run.sent else ""
    print(f"\n--- {name} ping statistics ---\n{run.sent} packets transmitted, {received} packets received{lost}")
    if not received:
        return 2
    mean = sum(run.round_trips_ms) / received
    deviation = (sum((value - mean) ** 2 for value in run.round_trips_ms) / received) ** 0.5
    values = (min(run.round_trips_ms), mean, max(run.round_trips_ms), deviation)
    print("round-trip min/avg/max/stddev = " + "/".join(f"{value:.3f}" for value in values) + " ms")
    return 0
