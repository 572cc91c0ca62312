"""Echo requests of ICMP, which ping(8) and ping6(8) send alike (network_cmds: ping.c, ping6.c)."""

from __future__ import annotations

import errno
import select
import socket
import struct
import sys
import time

from . import mac_errors
from .kernel_client import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

ICMP_HEADER_BYTES = 8


class Echoes:
    """The requests to one address, from start to end; times are seconds. A subclass has a protocol and its words.

    ``longest_request`` and ``longest_reply`` are the most bytes that go through its socket: a longer packet is refused
    like one above the MTU, and a longer reply is dropped.
    """

    family: socket.AddressFamily
    protocol: int
    request, reply = 8, 0  # the types of packets
    longest_request = longest_reply = 1 << 16

    def __init__(self, place: socket._Address, payload_bytes: int, count: int | None, flags: Collection[str]):
        self.place, self.payload_bytes, self.count, self.flags = place, payload_bytes, count, flags
        self.interval_s, self.wait_s, self.deadline = 1.0, 10.0, float("inf")
        self.sent = 0
        self.round_trips_ms: list[float] = []

    def _prepare(self, sock: socket.socket) -> None:
        """Say how its packets may be fragmented."""
        raise NotImplementedError

    def _tell_refusal(self, reason: str) -> None:
        """Print that a packet cannot be sent."""
        raise NotImplementedError

    def _tell_failure(self, reason: str) -> None:
        """Print that a router reports the address as unreachable."""
        raise NotImplementedError

    def _tell_reply(self, byte_count: int, number: int, round_trip_ms: float) -> None:
        """Print that a reply came."""
        raise NotImplementedError

    def _tell_timeout(self, number: int) -> None:
        """Print, if the program does, that no reply came in time."""

    def send_all(self) -> None:
        """Send the packets, and wait for each one's reply."""
        with socket.socket(self.family, socket.SOCK_DGRAM, self.protocol) as sock:
            self._prepare(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 18)
            while self.count is None or self.sent < self.count:
                if time.monotonic() > self.deadline:
                    return
                started = time.monotonic()
                self._send(sock)
                last = self.count is not None and self.sent >= self.count
                until = started + (self.wait_s if last else self.interval_s)
                if self._receive(sock, min(until, self.deadline)) and (last or "o" in self.flags):
                    return
                if not last:
                    time.sleep(max(0.0, min(until, self.deadline) - time.monotonic()))

    def _send(self, sock: socket.socket) -> None:
        header = struct.pack("!BBHHH", self.request, 0, 0, 0, self.sent & 0xFFFF)
        packet = header + bytes(index & 0xFF for index in range(self.payload_bytes))
        self.sent += 1
        try:
            if len(packet) > self.longest_request:
                raise OSError(errno.EMSGSIZE, "Message too long")
            sock.sendto(packet, self.place)
        except OSError as error:
            sys.stdout.flush()
            self._tell_refusal(mac_errors.text(error.errno or errno.EIO))

    def _receive(self, sock: socket.socket, until: float) -> bool:
        """Wait for the reply to the last packet and print it; False if none came in time."""
        started, number = time.monotonic(), self.sent - 1
        is_lost = self.payload_bytes + ICMP_HEADER_BYTES > self.longest_reply
        while (left := until - time.monotonic()) > 0:
            if not select.select([sock], [], [], left)[0]:
                break
            try:
                reply = sock.recv(65536)
            except OSError as error:
                self._tell_failure(mac_errors.text(error.errno or errno.EIO))
                continue
            if is_lost or reply[0] != self.reply or struct.unpack_from("!H", reply, 6)[0] != number & 0xFFFF:
                continue
            self.round_trips_ms.append((time.monotonic() - started) * 1000)
            if "q" not in self.flags:
                self._tell_reply(len(reply), number, self.round_trips_ms[-1])
            return True
        if "q" not in self.flags:
            self._tell_timeout(number)
        return False

    def sum_up(self, title: str, deviation_name: str) -> int:
        """Print the summary; the exit code is 0 with a reply, 2 without."""
        received = len(self.round_trips_ms)
        lost = f", {100 * (self.sent - received) / self.sent:.1f}% packet loss" if self.sent else ""
        print(f"\n--- {title} statistics ---\n{self.sent} packets transmitted, {received} packets received{lost}")
        if not received:
            return 2
        mean = sum(self.round_trips_ms) / received
        deviation = (sum((value - mean) ** 2 for value in self.round_trips_ms) / received) ** 0.5
        values = (min(self.round_trips_ms), mean, max(self.round_trips_ms), deviation)
        print(f"round-trip min/avg/max/{deviation_name} = {'/'.join(f'{value:.3f}' for value in values)} ms")
        return 0


def socket_limit(name: str) -> int:
    """A limit of raw sockets, in bytes: ``maxdgram`` or ``recvspace`` (xnu: raw_ip.c; raw_ip6.c takes the same)."""
    return int(call("sysctl_read", name=f"net.inet.raw.{name}"))
