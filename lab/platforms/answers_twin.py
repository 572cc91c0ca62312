"""The twin of answers.pl."""

import socket


def answers(address: str, port: str, seconds: float) -> bool:
    """Whether something takes a TCP connection there within so long."""
    try:
        socket.create_connection((address, int(port)), timeout=seconds).close()
    except OSError:
        return False
    return True
