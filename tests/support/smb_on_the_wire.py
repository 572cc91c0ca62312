"""Counts what clients ask of an SMB server, in the packets that cross an interface: ``python FILE INTERFACE``.

[MS-SMB2] 2.2.1: a request begins with a header of 64 bytes, its command at byte 12, with bit 0 of its flags at byte 16
clear. Several may be in one packet, and one that is encrypted is none.
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

HEADER = b"\xfeSMB" + struct.pack("<H", 64)
NAMES = {5: "CREATE", 6: "CLOSE", 7: "FLUSH", 8: "READ", 9: "WRITE"}
ETH_P_ALL, SO_RCVBUFFORCE = 3, 33  # linux/if_ether.h, asm-generic/socket.h
PORT = 445


@contextmanager
def counted_requests(init: int, interface: str) -> Iterator[Counter[str]]:
    """How often each command was asked for, on an interface of the host with this PID 1; known at the end."""
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
    """The commands that a packet to the server asks for."""
    _, found, rest = packet.partition(HEADER)
    while found:
        command, _, flags = struct.unpack_from("<HHI", rest, 6)
        if not flags & 1:
            yield NAMES.get(command, str(command))
        _, found, rest = rest.partition(HEADER)


def is_to_server(packet: bytes) -> bool:
    """Whether it is a packet of IPv4 and TCP to the port of SMB, on Ethernet."""
    tcp = 14 + 4 * (packet[14] & 15)
    is_tcp = packet[12:14] == b"\x08\0" and packet[23] == socket.IPPROTO_TCP
    return is_tcp and int.from_bytes(packet[tcp + 2 : tcp + 4], "big") == PORT


def main(interface: str) -> None:
    """Count until SIGTERM, and print the counts."""
    counts: Counter[str] = Counter()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as packets:
        packets.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 2**26)
        packets.bind((interface, 0))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(print(json.dumps(counts))))
        print("ready", flush=True)
        while True:
            packet = packets.recv(2**17)
            if len(packet) > 40 and is_to_server(packet):
                counts.update(requests(packet[14:]))


if __name__ == "__main__":
    main(sys.argv[1])
