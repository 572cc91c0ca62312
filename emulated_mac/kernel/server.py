"""The socket of the emulated kernel: every connection is one system call."""

from __future__ import annotations

import errno
import importlib
import marshal
import pkgutil
import socket
import socketserver
import struct
import sys
import traceback
from contextlib import nullcontext, suppress
from pathlib import Path

from .. import profiles
from ..kernel_client import SOCKET
from .system_calls import AT_BOOT, SYSTEM_CALLS, UNLOCKED, Caller, Kernel


class _Handler(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        packed = self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        caller = Caller(*struct.unpack("3i", packed))
        name, arguments = marshal.loads(self.rfile.read())
        kernel = self.server.kernel
        try:
            with nullcontext() if name in UNLOCKED else kernel.lock:
                answer = (0, SYSTEM_CALLS[name](kernel, caller, **arguments))
        except OSError as error:
            answer = (error.errno or errno.EIO, None)
        except Exception:  # a defect of the emulation: log it, and answer with an errno that no Mac refuses with
            traceback.print_exc()
            answer = (errno.EDOM, None)
        with suppress(BrokenPipeError):
            self.wfile.write(marshal.dumps(answer))


class Server(socketserver.ThreadingUnixStreamServer):
    """The socket."""

    daemon_threads = True
    kernel: Kernel


def main() -> int:
    """Serve until the host goes down."""
    package = __package__ or ""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name != "__main__":
            importlib.import_module(f"{package}.{module.name}")
    with suppress(FileNotFoundError):
        Path(SOCKET).unlink()
    with Server(SOCKET, _Handler) as server:
        server.kernel = Kernel(profiles.current())
        for start in AT_BOOT:
            start(server.kernel)
        Path(SOCKET).chmod(0o666)
        print("the emulated kernel serves", file=sys.stderr, flush=True)
        server.serve_forever()
    return 0
