"""A clock that knows nothing of the lab: the kernel's time stamps of the frames on the data link of a local lab.

``packet_clock.py PID FILE`` listens on ``eth0`` in the network of process PID and writes a line for every frame of more
than 500 bytes that is not iperf3's: nanoseconds since 1970, ``tx`` or ``rx``, bytes of TCP payload, and the two ports.
Ends with SIGTERM.
"""

import ctypes
import os
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SO_ATTACH_FILTER, SO_TIMESTAMPNS = 26, 35  # asm-generic/socket.h
ETH_P_ALL, PACKET_OUTGOING, CLONE_NEWNET = 3, 4, 0x40000000  # outgoing frames are shown to none that asks for less
IPERF3 = 15201
# Frames of 500 bytes and less never leave the kernel: load len; jump if greater; take the first 96 bytes, or nothing
FILTER = [(0x80, 0, 0, 0), (0x25, 0, 1, 500), (0x06, 0, 0, 96), (0x06, 0, 0, 0)]


def main() -> None:
    """Listen until killed."""
    pid, path = int(sys.argv[1]), Path(sys.argv[2])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with frames_of(pid) as link, path.open("w", buffering=1 << 20) as file:
        print("listening", flush=True)
        while True:
            time_ns, is_outgoing, frame = next_frame(link)
            if line := describe(frame, is_outgoing):
                file.write(f"{time_ns} {line}\n")


@contextmanager
def frames_of(pid: int) -> Iterator[socket.socket]:
    """A socket that hears the frames of more than 500 bytes on the data link of a process's network, from now on."""
    with Path("/proc/self/ns/net").open() as own, Path(f"/proc/{pid}/ns/net").open() as network:
        _enter(network.fileno())
        try:
            link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        finally:
            _enter(own.fileno())
    with link:
        code = b"".join(struct.pack("HBBI", *step) for step in FILTER)
        buffer = ctypes.create_string_buffer(code, len(code))
        program = struct.pack("HxxxxxxP", len(FILTER), ctypes.addressof(buffer))
        link.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
        link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
        link.bind(("eth0", ETH_P_ALL))
        yield link


def _enter(network: int) -> None:
    """Move this thread into another network namespace."""
    if ctypes.CDLL(None, use_errno=True).setns(network, CLONE_NEWNET):
        raise SystemExit(f"setns: {os.strerror(ctypes.get_errno())}")


def next_frame(link: socket.socket) -> tuple[int, bool, bytes]:
    """The next frame: nanoseconds since 1970, whether it left by this link, and its first 96 bytes."""
    frame, extra, _, sender = link.recvmsg(96, 64)
    seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
    return seconds * 10**9 + nanoseconds, sender[2] == PACKET_OUTGOING, frame


def describe(frame: bytes, outgoing: bool) -> str:
    """What a line says of a TCP segment over IPv4 after its time; empty for anything else, and for iperf3's."""
    if frame[12:14] != b"\x08\x00":
        return ""
    header = (frame[14] & 15) * 4
    total = int.from_bytes(frame[16:18], "big")
    tcp = frame[14 + header :]
    source, target = struct.unpack("!HH", tcp[:4])
    if frame[23] != socket.IPPROTO_TCP or IPERF3 in (source, target):
        return ""
    payload = total - header - (tcp[12] >> 4) * 4
    return f"{'tx' if outgoing else 'rx'} {payload} {min(source, target)}-{max(source, target)}"


if __name__ == "__main__":
    main()
