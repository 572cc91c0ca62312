"""How programs make system calls: a request to the emulated kernel over its socket. A sweep starts hundreds of
programs, so this module imports little: no json, no socket, no pathlib.
"""

from __future__ import annotations

import _socket
import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SOCKET = "/private/var/run/emulated_mac.sock"
CHUNK = 1 << 16


def call(name: str, /, **arguments: object) -> Any:
    """The kernel's answer. If the kernel refuses, raises OSError with Linux's errno and a Mac's text."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(SOCKET)
    connection.sendall(marshal.dumps((name, arguments)))
    connection.shutdown(_socket.SHUT_WR)
    parts = []
    while part := connection.recv(CHUNK):
        parts.append(part)
    connection.close()
    number, value = marshal.loads(b"".join(parts))
    if number:
        from . import mac_errors

        raise OSError(number, mac_errors.text(number))
    return value
