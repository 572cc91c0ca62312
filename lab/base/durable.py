"""Writing that survives a crash: of the program, of the machine, and of the disk being full; one writer at a time."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base.errors import BadInput


def append(path: Path, data: bytes) -> None:
    """Add ``data`` to a file and have it on the disk; raises OSError, with nothing added, where it does not fit."""
    with path.open("ab", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        try:
            if file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(end)  # half a line would spoil the next one
            raise
    if end == 0:
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make a new or renamed entry of a directory durable; fsync of the file alone does not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def claimed(directory: Path) -> Iterator[None]:
    """Be the only process that writes into a directory; the claim ends with the process, however that ends.

    Raises BadInput where another process has it.
    """
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            advice = "let it end, or stop it with Ctrl-C"
            raise BadInput(f"{directory}: another `lab` works on this run now; {advice}") from error
        yield
    finally:
        os.close(descriptor)
