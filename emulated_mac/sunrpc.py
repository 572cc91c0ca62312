"""ONC RPC over TCP (RFC 5531), as far as mount_nfs and showmount need it: portmap, MOUNT and FSINFO of NFSv3."""

import errno
import os
import random
import socket
import struct
from dataclasses import dataclass

from .tcp_stream import receive_exactly

PORTMAP, NFS, MOUNT, STATD = 100000, 100003, 100005, 100024
PORTMAP_PORT = 111
EPROGUNAVAIL, EPROGMISMATCH = 1074, 1075  # macOS has errnos of its own for them: 74 and 75
AUTH_SYS = 1
MOUNT_ERRORS = {1: errno.EPERM, 2: errno.ENOENT, 5: errno.EIO, 13: errno.EACCES, 20: errno.ENOTDIR, 22: errno.EINVAL}


class Unpacker:
    """XDR, RFC 4506."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def number(self) -> int:
        """An unsigned number of 32 bits."""
        self._at += 4
        return int(struct.unpack_from(">I", self._data, self._at - 4)[0])

    def opaque(self) -> bytes:
        """Bytes with their length before them."""
        length = self.number()
        data = self._data[self._at : self._at + length]
        self._at += length + -length % 4
        return data

    def skip(self, count: int) -> None:
        """Skip bytes."""
        self._at += count


def opaque(data: bytes) -> bytes:
    """Bytes with their length before them, filled up to a multiple of four."""
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def ask(
    address: tuple[str, int], program: tuple[int, int, int], arguments: bytes, reserved: bool, wait_s: float
) -> Unpacker:
    """One call of (program, version, procedure); from a port below 1024 where ``reserved``. Raises OSError."""
    with socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET) as connection:
        connection.settimeout(wait_s)
        if reserved:
            _bind_reserved(connection)
        connection.connect(address)
        number = random.getrandbits(32)
        auth = opaque(
            struct.pack(">I", 0)
            + opaque(os.uname().nodename.encode())
            + struct.pack(">3I", os.getuid(), os.getgid(), 0)
        )
        call = struct.pack(">6I", number, 0, 2, *program) + struct.pack(">I", AUTH_SYS) + auth + bytes(8) + arguments
        connection.sendall(struct.pack(">I", 0x80000000 | len(call)) + call)
        reply = Unpacker(_record(connection))
    reply.skip(8)
    if reply.number() != 0:
        raise OSError(errno.EACCES, "rejected")
    reply.skip(4)
    reply.opaque()
    state = reply.number()
    if state != 0:
        raise OSError({1: EPROGUNAVAIL, 2: EPROGMISMATCH}.get(state, errno.EIO), "RPC")
    return reply


def _bind_reserved(connection: socket.socket) -> None:
    for port in random.sample(range(600, 1023), 400):
        try:
            connection.bind(("", port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return


def _record(connection: socket.socket) -> bytes:
    data = b""
    last = False
    while not last:
        (mark,) = struct.unpack(">I", receive_exactly(connection, 4))
        last = bool(mark & 0x80000000)
        data += receive_exactly(connection, mark & 0x7FFFFFFF)
    return data


def port_of(host: str, program: int, version: int, wait_s: float) -> int:
    """The port of a program, as rpcbind there tells. Raises OSError: EPROGUNAVAIL if the host lacks the program."""
    place = (host, PORTMAP_PORT)
    if ":" in host:  # portmap knows IPv4 alone; RPCBPROC_GETADDR of rpcbind 3 answers with ADDRESS.HIGH.LOW
        numbers = struct.pack(">2I", program, version)
        answer = ask(place, (PORTMAP, 3, 3), numbers + opaque(b"tcp6") + opaque(b"") * 2, False, wait_s).opaque()
        high, low = map(int, answer.split(b".")[-2:]) if answer else (0, 0)
        port = high << 8 | low
    else:
        arguments = struct.pack(">4I", program, version, socket.IPPROTO_TCP, 0)
        port = ask(place, (PORTMAP, 2, 3), arguments, False, wait_s).number()
    if port == 0:
        raise OSError(EPROGUNAVAIL, "RPC prog. not avail")
    return port


@dataclass(frozen=True)
class Limits:
    """The largest requests of a server, in bytes."""

    read: int
    write: int
    directory: int


def mount(host: str, path: str, port: int, reserved: bool, wait_s: float) -> bytes:
    """The file handle of an export. Raises OSError with the server's errno if it refuses."""
    reply = ask((host, port), (MOUNT, 3, 1), opaque(path.encode()), reserved, wait_s)
    status = reply.number()
    if status != 0:
        raise OSError(MOUNT_ERRORS.get(status, errno.EIO), path)
    return reply.opaque()


def limits(host: str, handle: bytes, port: int, reserved: bool, wait_s: float) -> Limits:
    """FSINFO, RFC 1813 3.3.19."""
    reply = ask((host, port), (NFS, 3, 19), opaque(handle), reserved, wait_s)
    if reply.number() != 0:
        raise OSError(errno.ESTALE, "FSINFO")
    if reply.number():
        reply.skip(84)
    read = reply.number()
    reply.skip(8)
    write = reply.number()
    reply.skip(8)
    return Limits(read, write, reply.number())


def list_exports(host: str, port: int, wait_s: float) -> list[tuple[str, list[str]]]:
    """The exports of a host, each with the hosts that may mount it."""
    reply = ask((host, port), (MOUNT, 3, 5), b"", False, wait_s)
    exports = []
    while reply.number():
        path, groups = reply.opaque().decode(errors="replace"), []
        while reply.number():
            groups.append(reply.opaque().decode(errors="replace"))
        exports.append((path, groups))
    return exports
