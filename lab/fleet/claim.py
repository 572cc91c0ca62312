"""A lock that a process has, and every child that it leaves it to: gone with the last of them, however they end."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base import durable
from lab.base.errors import LabFailure

PATIENCE_S = 1.0  # who only looks whether it is taken has it for a moment


class Claimed(LabFailure):
    """Somebody else has the lock."""


@contextmanager
def claimed(path: Path) -> Iterator[int]:
    """Have the lock of a file, which is made; its descriptor, to be left to a child. Raises Claimed, and OSError.

    A file, and open for writing: NFS knows of no other lock.
    """
    descriptor = durable.open_own(path, os.O_RDWR)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not _try_to_lock(descriptor):
            if time.monotonic() > deadline:
                raise Claimed(f"{path}: another process has it")
            time.sleep(0.05)
        yield descriptor
    finally:
        os.close(descriptor)


def is_claimed(path: Path) -> bool:
    """Whether somebody has the lock of a file; changes nothing."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _try_to_lock(descriptor)
    finally:
        os.close(descriptor)


def _try_to_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
