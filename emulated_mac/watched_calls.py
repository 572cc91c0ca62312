"""Watching the system calls of a process and all that it starts: seccomp's user notification, which Python lacks.

The watcher answers each watched call: it goes on, fails with an errno, or blocks until the process is killed. Numbers:
linux/seccomp.h, linux/filter.h, and the tables of system calls.
"""

import ctypes
import errno
import fcntl
import os
import select
import struct
from contextlib import suppress
from dataclasses import dataclass

SECCOMP = {"x86_64": 317, "aarch64": 277}
# By the argument that is a path; the argument before it is its folder, if the call has one
PATHS = {
    "x86_64": {2: 0, 85: 0, 257: 1, 437: 1, 83: 0, 258: 1, 82: 0, 264: 1, 316: 1, 87: 0, 263: 1, 84: 0},
    "aarch64": {56: 1, 437: 1, 34: 1, 38: 1, 276: 1, 35: 1},
}
CONNECT = {"x86_64": 42, "aarch64": 203}
SET_MODE_FILTER, NEW_LISTENER = 1, 8
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NOTIFY, ALLOW = 0x7FC00000, 0x7FFF0000
RECEIVE, SEND, GO_ON = 0xC0502100, 0xC0182101, 1
NOTICE = struct.Struct("<QIIiIQ6Q")
REPLY = struct.Struct("<Qqii")
INSTRUCTION = struct.Struct("<HBBI")
HERE = -100  # AT_FDCWD
LONGEST_PATH, ADDRESS_BYTES = 4096, 28
MACHINE = os.uname().machine


@dataclass(frozen=True)
class Call:
    """A call that waits for an answer: the absolute path that it names, or the socket's address that it connects to."""

    id: int
    pid: int
    path: str = ""
    address: bytes = b""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def watch_me() -> int:
    """Watch this process, which must be root, from now on; returns the descriptor on which its calls are told."""
    numbers = [*PATHS[MACHINE], CONNECT[MACHINE]]
    jumps = [INSTRUCTION.pack(JUMP_IF_EQUAL, len(numbers) - index, 0, call) for index, call in enumerate(numbers)]
    ends = [INSTRUCTION.pack(RETURN, 0, 0, action) for action in (ALLOW, NOTIFY)]
    code = b"".join([INSTRUCTION.pack(LOAD, 0, 0, 0), *jumps, *ends])
    program = _Program(len(code) // INSTRUCTION.size, code)
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = int(libc.syscall(SECCOMP[MACHINE], SET_MODE_FILTER, NEW_LISTENER, ctypes.byref(program)))
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return descriptor


def next_call(descriptor: int) -> Call | None:
    """The next call; None after the last watched process has ended."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        if any(events & select.POLLHUP for _, events in poll.poll()):
            return None
        notice = bytearray(NOTICE.size)
        try:
            fcntl.ioctl(descriptor, RECEIVE, notice)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):  # the process was killed meanwhile
                continue
            raise
        number, pid, _, call, _, _, *arguments = NOTICE.unpack(notice)
        try:
            if call == CONNECT[MACHINE]:
                return Call(number, pid, address=_read(pid, arguments[1], ADDRESS_BYTES))
            return Call(number, pid, path=_path(pid, PATHS[MACHINE][call], arguments))
        except OSError:  # a bad address, or the process is gone: Linux itself says so
            answer(descriptor, number)


def answer(descriptor: int, number: int, error: int = 0) -> None:
    """Let a call go on, or fail with ``error``."""
    with suppress(FileNotFoundError):  # the process was killed meanwhile
        fcntl.ioctl(descriptor, SEND, REPLY.pack(number, 0, -error, 0 if error else GO_ON))


def _read(pid: int, address: int, size: int) -> bytes:
    with open(f"/linux/proc/{pid}/mem", "rb", buffering=0) as memory:  # noqa: PTH123
        memory.seek(address)
        return memory.read(size)


def _path(pid: int, index: int, arguments: list[int]) -> str:
    """The absolute path that a call names, as it was written."""
    address = arguments[index]
    size = min(LONGEST_PATH, 4096 - address % 4096)  # the next page of memory may be missing
    written = _read(pid, address, size)
    if b"\0" not in written:
        written += _read(pid, address + size, LONGEST_PATH - size)
    folder = ctypes.c_int(arguments[0]).value if index else HERE
    base = os.readlink(f"/linux/proc/{pid}/{'cwd' if folder == HERE else f'fd/{folder}'}")  # noqa: PTH115
    return os.path.join(base, os.fsdecode(written.split(b"\0", 1)[0]))  # noqa: PTH118
