"""Counts the requests to an SMB server in the packets that cross an interface: ``python FILE INTERFACE``.

[MS-SMB2] 2.2.1: a request begins with a header of 64 bytes, its command at byte 12, and bit 0 of its flags at byte 16
clear. A packet may have several; encrypted ones are not counted."""

import ctypes
import json
import signal
import socket
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

HEADER = b"\xfeSMB" + struct.pack("<H", 64)
NAMES = {5: "CREATE", 6: "CLOSE", 7: "FLUSH", 8: "READ", 9: "WRITE"}
ETH_P_ALL, SO_ATTACH_FILTER, SO_RCVBUFFORCE = 3, 26, 33  # linux/if_ether.h, asm-generic/socket.h
# linux/filter.h: the type is IPv4, the protocol TCP, and the port behind the header of IPv4 445
TO_SERVER = (
    (0x28, 0, 0, 12), (0x15, 0, 6, 0x800), (0x30, 0, 0, 23), (0x15, 0, 4, socket.IPPROTO_TCP), (0xB1, 0, 0, 14),
    (0x48, 0, 0, 16), (0x15, 0, 1, 445), (0x06, 0, 0, 0xFFFFFFFF), (0x06, 0, 0, 0),
)  # fmt: skip


@contextmanager
def counted_requests(init: int, interface: str) -> Iterator[Counter[str]]:
    """Counts of each command on an interface of the host with this PID 1; filled at the end."""
    counts: Counter[str] = Counter()
    command = ["nsenter", "--target", str(init), "--net", "--", sys.executable, __file__, interface]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as counter:
        assert counter.stdout
        assert counter.stdout.readline() == "ready\n"
        try:
            yield counts
        finally:
            counter.terminate()
            counts.update(json.loads(counter.stdout.read()))


def requests(packet: bytes) -> Iterator[str]:
    _, found, rest = packet.partition(HEADER)
    while found:
        command, _, flags = struct.unpack_from("<HHI", rest, 6)
        if not flags & 1:
            yield NAMES.get(command, str(command))
        _, found, rest = rest.partition(HEADER)


def main(interface: str) -> None:
    counts: Counter[str] = Counter()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as packets:  # gets no packet before it is bound
        packets.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 2**26)
        keep_requests_alone(packets)
        packets.bind((interface, ETH_P_ALL))

        def count(flags: int = 0) -> None:
            counts.update(requests(packets.recv(2**17, flags)))

        def end(*_: object) -> NoReturn:
            """Count what has arrived first: on a busy machine this process is behind."""
            with suppress(BlockingIOError):
                while True:
                    count(socket.MSG_DONTWAIT)
            sys.exit(print(json.dumps(counts)))

        signal.signal(signal.SIGTERM, end)
        print("ready", flush=True)
        while True:
            count()


def keep_requests_alone(packets: socket.socket) -> None:
    """Let the kernel drop packets that go to no SMB server: iperf3 has a hundred times as many."""
    program = b"".join(struct.pack("<HBBI", *instruction) for instruction in TO_SERVER)
    buffer = ctypes.create_string_buffer(program)
    filter_ = struct.pack("@HP", len(TO_SERVER), ctypes.addressof(buffer))
    packets.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filter_)


if __name__ == "__main__":
    main(sys.argv[1])
