"""How a command asks the emulated kernel.

Commands are started by the hundred, so what every one of them imports is little: no json, no socket, no pathlib.
"""

from __future__ import annotations

import _socket
import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SOCKET = "/private/var/run/darwin.sock"
CHUNK = 1 << 16


def call(name: str, /, **arguments: Any) -> Any:
    """What the kernel answers. Raises OSError with the errno of Linux's that it refuses with, in a Mac's words."""
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
        from . import errnos

        raise OSError(number, errnos.text(number))
    return value
