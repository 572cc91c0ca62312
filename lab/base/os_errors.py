"""System errors as text with their file, but without ``[Errno 28]``."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)


def remedy(error: OSError, afterwards: str = "") -> str:
    """What to do about a full disk, and ``afterwards``."""
    room = "make room on that disk of this machine" if error.errno in FULL else ""
    return "; then ".join(filter(None, [room, afterwards]))


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the path to an OSError without one, as from write, fsync or close."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def reason_of(error: BaseException) -> str:
    """The text of an error; for a system error without the number and path that Python adds."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def explain(error: BaseException) -> str:
    """The text of an error, with the file that it names, if any."""
    name = error.filename if isinstance(error, OSError) else None
    return reason_of(error) if name is None else f"{name}: {reason_of(error)}"
