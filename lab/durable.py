"""Writing that survives a crash: of the program, of the machine, and of the disk being full."""

from __future__ import annotations

import errno
import os
from pathlib import Path


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
