"""Reading from a TCP connection, which hands on what was sent in pieces of any size."""

from __future__ import annotations

import errno
import socket


def receive_exactly(connection: socket.socket, count: int) -> bytes:
    """The next ``count`` bytes. Raises OSError (ECONNRESET) where the server ends the connection before."""
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise OSError(errno.ECONNRESET, "the server ended the connection")
        data += piece
    return data
