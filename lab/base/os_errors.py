"""Errors of the system that name their file: ``[Errno 28] No space left on device`` alone helps nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name this file in an OSError that names none: that of a write, of fsync or of close."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
