"""Writing files that survive a crash or a full disk, with one writer at a time and without following links.

Anybody who can write into a folder can plant a link there. So the lab writes only to ordinary files that belong to its
user and have one name. Others may read a file if they may read its folder, but never write to it.
"""

import errno
import fcntl
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Self

from lab.base.errors import BadInput
from lab.base.os_errors import naming
from lab.base.untrusted import open_file

_OTHERS = 0o044  # others may read a file if its folder is open to them


def open_own(path: Path, flags: int) -> int:
    """Open an ordinary file of this user's with no second name; a missing one is created. Raises OSError otherwise."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, _mode(path.parent))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not an ordinary file", str(path))
        if status.st_nlink != 1:
            raise OSError(errno.EMLINK, "has other names (hard links): not written to", str(path))
        if status.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "belongs to another user: not written to", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _mode(folder: Path) -> int:
    try:
        return 0o600 | folder.stat().st_mode & _OTHERS
    except OSError:
        return 0o600  # opening the file will say what is wrong


def append(path: Path, data: bytes) -> None:
    """Add all of the data to a file durably, or nothing. Raises OSError, also as :func:`open_own` does."""
    with naming(path), os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND), "ab", buffering=0) as file:
        end = file.seek(0, os.SEEK_END) if file.seekable() else None  # GVfs only appends
        try:
            if file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(file.fileno())
        except BaseException:
            if end is not None:
                file.truncate(end)  # half a line would spoil the next one
            raise
    if not end:
        sync_directory(path.parent)


def append_line(path: Path, line: str) -> None:
    """Add a line that need not survive a crash. Raises OSError as :func:`append` does."""
    with naming(path), os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND), "ab", buffering=0) as file:
        file.write(f"{line}\n".encode())


def cut_off(path: Path, end: int) -> None:
    """Truncate a file to ``end`` bytes. Raises OSError as :func:`append` does."""
    with naming(path), os.fdopen(open_own(path, os.O_WRONLY), "wb", buffering=0) as file:
        file.truncate(end)
        os.fsync(file.fileno())


def create(path: Path, data: bytes) -> None:
    """Create a file durably. Raises OSError if the name exists, even as a dangling link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with naming(path), os.fdopen(os.open(path, flags, _mode(path.parent)), "wb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            path.unlink()
            raise
    sync_directory(path.parent)


class Folder:
    """An open folder, so that nobody can swap it. A link in it is replaced, not followed. To be used in a ``with``."""

    def __init__(self, path: Path, descriptor: int):
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def at(cls, path: Path) -> Self:
        """The folder that a person named, link or not. Raises OSError."""
        return cls(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    def enter(self, name: str, remedy: str = "remove it, or give --to DIR") -> Self:
        """A folder in this one with the same access rights; a missing one is created. Raises BadInput for a link."""
        with suppress(FileExistsError):
            os.mkdir(name, os.fstat(self._descriptor).st_mode & 0o755 | 0o700, dir_fd=self._descriptor)
            os.fsync(self._descriptor)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return type(self)(self.path / name, os.open(name, flags, dir_fd=self._descriptor))
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            raise BadInput(f"{self.path / name}: a link, or no folder: nothing is written there", remedy) from error

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A file that replaces the one of this name durably and in one step; after an OSError the old one remains."""
        part = f".{name}.{os.urandom(6).hex()}"
        mode = 0o600 | os.fstat(self._descriptor).st_mode & _OTHERS
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(part, flags, mode, dir_fd=self._descriptor), "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except BaseException as error:
            with suppress(OSError):
                os.unlink(part, dir_fd=self._descriptor)
            if isinstance(error, OSError) and error.errno is not None:
                raise OSError(error.errno, error.strerror, str(self.path / name)) from error
            raise
        os.fsync(self._descriptor)

    def replace(self, name: str, data: bytes) -> Path:
        """Write a file durably and in one step, in place of one of this name."""
        with self.writing(name) as file:
            file.write(data)
        return self.path / name

    def names(self) -> list[str]:
        """The names in this folder, sorted."""
        return sorted(os.listdir(self._descriptor))  # noqa: PTH208

    def open_file(self, name: str) -> io.FileIO:
        """Open an ordinary file in this folder: see :func:`lab.base.untrusted.open_file`."""
        return open_file(Path(name), folder=self._descriptor)

    def remove(self, name: str) -> None:
        """Remove a file from this folder. Raises OSError."""
        os.unlink(name, dir_fd=self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def replace(path: Path, data: bytes) -> None:
    """Write a file in one step: after a crash either the old or the new one is there. Raises OSError."""
    with Folder.at(path.parent) as folder:
        folder.replace(path.name, data)


def sync_directory(path: Path) -> None:
    """Make a new or renamed entry of a directory durable, which fsync of the file alone does not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def claimed(directory: Path) -> Iterator[None]:
    """Be the only process that writes into a directory; the claim ends with the process. Raises BadInput if taken."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"{directory}: another `lab` works on this run now; let it end, or stop it with Ctrl-C"
            raise BadInput(message) from error
        yield
    finally:
        os.close(descriptor)
