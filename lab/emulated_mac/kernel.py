"""What stands for the kernel of an emulated Mac: a process of root's that commands ask by a socket.

It keeps what a kernel keeps (sysctls, disks, mounts) in memory, so that a reboot forgets it, and does the work on the
Linux below. It knows who asks, as a kernel does, and refuses with an errno.
"""

from __future__ import annotations

import errno
import importlib
import json
import marshal
import os
import pkgutil
import pwd
import socket
import socketserver
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import calls, faults, profiles
from .system import SOCKET

FAULTS = Path(faults.FILE)


@dataclass(frozen=True)
class Caller:
    """Who asks."""

    pid: int
    uid: int
    gid: int

    def must_be_root(self) -> None:
        """Raise EPERM for anybody else."""
        if self.uid != 0:
            raise OSError(errno.EPERM, "Operation not permitted")


@dataclass
class Kernel:
    """The state that a reboot forgets; each module of ``calls`` keeps its own part in ``parts``."""

    profile: profiles.Profile
    parts: dict[str, Any] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def fault(self, name: str) -> bool:
        """Whether this is to go wrong now; once less from here on, unless it holds."""
        try:
            left = json.loads(FAULTS.read_text())
        except FileNotFoundError:
            return False
        if left.get(name, 0) <= 0:
            return False
        if name not in faults.HOLDING:
            left[name] -= 1
            FAULTS.write_text(json.dumps(left))
        return True


Call = Callable[..., Any]  # of the kernel, the caller and arguments by name
TABLE: dict[str, Call] = {}
UNLOCKED: set[str] = set()  # those that wait for something and take the lock themselves
BOOT: list[Callable[[Kernel], None]] = []


def call(function: Call) -> Call:
    """A function of ``calls`` that commands may ask for by its name."""
    TABLE[function.__name__] = function
    return function


def waiting_call(function: Call) -> Call:
    """As ``call``, for a function that waits for another host: meanwhile the kernel answers others."""
    UNLOCKED.add(function.__name__)
    return call(function)


def at_boot(function: Callable[[Kernel], None]) -> Callable[[Kernel], None]:
    """A function of ``calls`` that the kernel runs as it starts, before anybody can ask."""
    BOOT.append(function)
    return function


class _Handler(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        packed = self.connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        caller = Caller(*struct.unpack("3i", packed))
        name, arguments = marshal.loads(self.rfile.read())
        kernel = self.server.kernel
        try:
            with nullcontext() if name in UNLOCKED else kernel.lock:
                answer = (0, TABLE[name](kernel, caller, **arguments))
        except OSError as error:
            answer = (error.errno or errno.EIO, None)
        except Exception:  # a defect of the emulation: seen in the host's log, and not taken for a Mac's refusal
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
    for module in pkgutil.iter_modules(calls.__path__):
        importlib.import_module(f"{calls.__name__}.{module.name}")
    with suppress(FileNotFoundError):
        Path(SOCKET).unlink()
    with Server(SOCKET, _Handler) as server:
        server.kernel = Kernel(profiles.chosen())
        for start in BOOT:
            start(server.kernel)
        Path(SOCKET).chmod(0o666)
        print("the emulated kernel serves", file=sys.stderr, flush=True)
        server.serve_forever()
    return 0


def linux(*argv: str, user: int = 0) -> tuple[str, ...]:
    """A command of the Linux below, for programs that need its /proc, /etc or /usr: in mounts of their own.

    Those follow the Mac's; what is mounted there below /private/var/fuse is seen by all.
    """
    script = (
        "mount --make-slave / && mount --bind /linux/proc /proc && mount --bind /linux/etc /private/etc && "
        "mount --bind /linux/usr /usr && "
        'cd / && shift && exec "$@"'
    )
    enter = ("/linux/usr/bin/unshare", "--mount", "--propagation", "unchanged", "--", "/linux/usr/bin/sh", "-ec")
    return (*enter, script, "sh", "-", *(as_user(user) if user else ()), *argv)


def as_user(user: int, capability: str = "") -> tuple[str, ...]:
    """What stands before a command that is to run as this user, with the user's groups and one capability of Linux."""
    group = pwd.getpwuid(user).pw_gid
    more = (f"--inh-caps=+{capability}", f"--ambient-caps=+{capability}") if capability else ()
    return ("/linux/usr/bin/setpriv", f"--reuid={user}", f"--regid={group}", "--init-groups", *more, "--")


def environment() -> dict[str, str]:
    """Of programs of the Linux below."""
    return {"PATH": "/linux/usr/sbin:/linux/usr/bin", "LC_ALL": "C.UTF-8", "HOME": "/private/var/root"} | {
        name: value for name, value in os.environ.items() if name == "TZ"
    }
