"""Read from a TCP connection, whose data comes in pieces of any size."""

import errno
import socket


def receive_exactly(connection: socket.socket, count: int) -> bytes:
    """The next ``count`` bytes. Raises OSError (ECONNRESET) if the server ends the connection too early."""
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise OSError(errno.ECONNRESET, "the server ended the connection")
        data += piece
    return data
