"""Stops a program and its children before each system call that names a file, by ptrace(2) of Linux.

The program reads plans as JSON from standard input, and prints an :class:`Outcome` for each. It is a process of its own
because it waits for any child."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from support.paths import ROOT, TESTS

TRACEME, SYSCALL, SETOPTIONS, GET_SYSCALL_INFO = 0, 24, 0x4200, 0x420E
# TRACESYSGOOD, TRACEFORK, TRACEVFORK, TRACECLONE, EXITKILL
OPTIONS = 1 | 2 | 4 | 8 | 1 << 20
ENTRY = 1
SYSCALL_STOP = signal.SIGTRAP | 0x80
WALL = 0x40000000
LONGEST_PATH = 4096
LARGEST_DESCRIPTOR = 65535  # smaller arguments are no addresses
Moves: TypeAlias = Mapping[int, Sequence[tuple[str, str]]]  # renames by the number of a stop, from 0


@dataclass(frozen=True)
class Outcome:
    """The output of the program, and the number of its stops."""

    printed: str
    stops: int


class Info(ctypes.Structure):
    """``struct ptrace_syscall_info`` at the entry into a system call."""

    _fields_ = (
        ("op", ctypes.c_uint8), ("pad", ctypes.c_uint8 * 3), ("arch", ctypes.c_uint32), ("ip", ctypes.c_uint64),
        ("sp", ctypes.c_uint64), ("number", ctypes.c_uint64), ("arguments", ctypes.c_uint64 * 6),
    )  # fmt: skip


libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)


def stepped(name: str, argv: Sequence[str], plans: Sequence[Moves]) -> list[Outcome]:
    """Run a program once for each plan of renaming, which is undone afterwards.

    It stops if a path of a system call ends in ``name``, or is the current folder or one above it.
    """
    command = [sys.executable, "-m", "support.stepper", name, *argv]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{TESTS}", "LC_ALL": "C"}
    given = json.dumps([list(plan.items()) for plan in plans])
    done = subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, text=True, check=True)
    return [Outcome(*outcome) for outcome in json.loads(done.stdout)]


class Stepper:
    """Follows a program, and renames files at its stops."""

    def __init__(self, name: str, moves: Moves):
        self.name, self.moves = name.encode(), moves
        self.moved: list[tuple[str, str]] = []
        self.stops = 0

    def run(self, argv: Sequence[str]) -> Outcome:
        with tempfile.TemporaryFile() as output:
            self._follow(_start(argv, output.fileno()))
            for old, new in reversed(self.moved):
                os.rename(new, old)  # noqa: PTH104
            output.seek(0)
            return Outcome(output.read().decode(), self.stops)

    def _follow(self, first: int) -> None:
        os.waitpid(first, 0)
        libc.ptrace(SETOPTIONS, first, None, OPTIONS)
        libc.ptrace(SYSCALL, first, None, None)
        while True:
            try:
                pid, status = os.waitpid(-1, WALL)
            except ChildProcessError:
                return
            if os.WIFSTOPPED(status):
                libc.ptrace(SYSCALL, pid, None, self._handle(pid, os.WSTOPSIG(status)))

    def _handle(self, pid: int, number: int) -> int:
        """Handle a stop; returns the signal that the process gets."""
        if number == SYSCALL_STOP:
            if self._names_it(pid):
                for old, new in self.moves.get(self.stops, ()):
                    os.rename(old, new)  # noqa: PTH104
                    self.moved.append((old, new))
                self.stops += 1
            return 0
        return 0 if number in (signal.SIGTRAP, signal.SIGSTOP) else number

    def _names_it(self, pid: int) -> bool:
        info = Info()
        libc.ptrace(GET_SYSCALL_INFO, pid, ctypes.sizeof(info), ctypes.byref(info))
        if info.op != ENTRY:
            return False
        words = [_text(pid, address) for address in info.arguments[:2] if address > LARGEST_DESCRIPTOR]
        return any(word.rstrip(b"/").endswith(self.name) or word.strip(b"./") == b"" != word for word in words)


def _start(argv: Sequence[str], output: int) -> int:
    """A child that stops before it becomes the program."""
    pid = os.fork()
    if pid == 0:
        os.dup2(output, 1)
        libc.ptrace(TRACEME, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execvp(argv[0], [*argv])  # noqa: S606 – what the test gives
    return pid


def _text(pid: int, address: int) -> bytes:
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            memory.seek(address)
            content = memory.read(LONGEST_PATH)
    except (OSError, ValueError, OverflowError):
        return b""
    return content.partition(b"\0")[0]


if __name__ == "__main__":
    outcomes = [Stepper(sys.argv[1], dict(plan)).run(sys.argv[2:]) for plan in json.load(sys.stdin)]
    print(json.dumps([(outcome.printed, outcome.stops) for outcome in outcomes]))
