"""Errors of the system that name their file: ``[Errno 28] No space left on device`` alone helps nobody."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)


def remedy(error: OSError, afterwards: str = "") -> str:
    """What to do about it, where that does not follow from what is wrong; and ``afterwards``."""
    room = "make room on that disk of this machine" if error.errno in FULL else ""
    return "; then ".join(filter(None, [room, afterwards]))


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name this file in an OSError that names none: that of a write, of fsync or of close."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def reason_of(error: BaseException) -> str:
    """What an error says; of one of the system's without the number and the path that Python puts around it."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def explain(error: BaseException) -> str:
    """The same with the file that it is about, where it names one."""
    name = error.filename if isinstance(error, OSError) else None
    return reason_of(error) if name is None else f"{name}: {reason_of(error)}"
