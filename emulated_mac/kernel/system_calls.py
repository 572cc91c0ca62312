"""A system call of the emulated kernel: a function of the kernel, the caller, and arguments by name."""

import errno
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from .. import faults, profiles

FAULTS = Path(faults.FILE)
Part = TypeVar("Part")
Function = TypeVar("Function", bound=Callable[..., object])


@dataclass(frozen=True)
class Caller:
    """The process that asks."""

    pid: int
    uid: int
    gid: int

    def must_be_root(self) -> None:
        """Raise EPERM for anybody else."""
        if self.uid != 0:
            raise OSError(errno.EPERM, "Operation not permitted")


class Kernel:
    """The state that a reboot forgets; the module of each subject defines its own part of it."""

    def __init__(self, profile: profiles.Profile):
        self.profile = profile
        self.lock = threading.RLock()
        self._parts: dict[type, object] = {}

    def part(self, kind: type[Part]) -> Part:
        """The part of this type; created empty at its first use."""
        return cast(Part, self._parts.setdefault(kind, kind()))

    def fault(self, name: str) -> bool:
        """Whether this fault happens now. Each yes counts as one time, unless the fault lasts until switched off."""
        try:
            remaining: dict[str, int] = json.loads(FAULTS.read_text())
        except FileNotFoundError:
            return False
        if remaining.get(name, 0) <= 0:
            return False
        if name not in faults.HOLDING:
            remaining[name] -= 1
            FAULTS.write_text(json.dumps(remaining))
        return True


SYSTEM_CALLS: dict[str, Callable[..., Any]] = {}  # by name; marshal must be able to carry their results
UNLOCKED: set[str] = set()  # system calls that wait for another host, and take the lock themselves
AT_BOOT: list[Callable[[Kernel], None]] = []


def system_call(function: Function) -> Function:
    """A function that programs may call by its name."""
    SYSTEM_CALLS[function.__name__] = function
    return function


def waiting_system_call(function: Function) -> Function:
    """Like ``system_call`` for a function that waits for another host; meanwhile the kernel answers other calls."""
    UNLOCKED.add(function.__name__)
    return system_call(function)


def at_boot(function: Callable[[Kernel], None]) -> Callable[[Kernel], None]:
    """A function that the kernel runs as it starts, before anybody can call."""
    AT_BOOT.append(function)
    return function
