"""Writing that survives a crash (of the program, the machine, a full disk), by one writer at a time, through no link.

Whoever can write into a folder can plant a link there, in the place of a file that the lab is about to write: what is
written to must be an ordinary file of one name, owned by who runs the lab. Files are as open to others as their folder
is, and never writable for them.
"""

from __future__ import annotations

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

_OTHERS = 0o044  # what others may do with a file, where its folder is open to them


def open_own(path: Path, flags: int) -> int:
    """The descriptor of an ordinary file of our own with no second name, made where it is missing.

    Raises OSError for a link, for what is no file, for a file of another user, and for one with hard links.
    """
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
    """Add ``data`` to a file and have it on the disk; raises OSError, with nothing added, where it does not fit.

    Raises OSError, too, where the file is not one to write to (:func:`open_own`).
    """
    with naming(path), os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND), "ab", buffering=0) as file:
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


def append_line(path: Path, line: str) -> None:
    """Add a line that nothing rests on, and that need not survive a crash. Raises OSError as :func:`append` does."""
    with naming(path), os.fdopen(open_own(path, os.O_WRONLY | os.O_APPEND), "ab", buffering=0) as file:
        file.write(f"{line}\n".encode())


def cut_off(path: Path, end: int) -> None:
    """Forget what stands after ``end`` bytes. Raises OSError as :func:`append` does."""
    with naming(path), os.fdopen(open_own(path, os.O_WRONLY), "wb", buffering=0) as file:
        file.truncate(end)
        os.fsync(file.fileno())


def create(path: Path, data: bytes) -> None:
    """Make a new file of these bytes, durably. Raises OSError where anything has that name, be it a link to nothing."""
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
    """An open folder, whose files are replaced as a whole: a name that is a link is replaced, and not followed.

    Held open, so that nobody can put another folder in its place meanwhile. To be used in a ``with``.
    """

    def __init__(self, path: Path, descriptor: int):
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def at(cls, path: Path) -> Self:
        """The folder that a person named, link or not. Raises OSError."""
        return cls(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    def enter(self, name: str, remedy: str = "remove it, or give --to DIR") -> Self:
        """A folder in this one, made where it is missing, and as open as this one is. Raises BadInput for a link."""
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
        """A file that is there, durably and in one step, once all of it is written, in place of whatever has its name
        but a folder; after an error there is what there was. Raises OSError that names it.
        """
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
        """Make a file of these bytes, in one step and durably, in place of whatever has its name but a folder."""
        with self.writing(name) as file:
            file.write(data)
        return self.path / name

    def names(self) -> list[str]:
        """What is in it."""
        return sorted(os.listdir(self._descriptor))  # noqa: PTH208

    def open_file(self, name: str) -> io.FileIO:
        """An ordinary file in it, to be read: see :func:`lab.base.untrusted.open_file`."""
        return open_file(Path(name), folder=self._descriptor)

    def remove(self, name: str) -> None:
        """Take a file out of it. Raises OSError."""
        os.unlink(name, dir_fd=self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def replace(path: Path, data: bytes) -> None:
    """Make a file of these bytes in one step: after a crash it is the old one or the new one. Raises OSError."""
    with Folder.at(path.parent) as folder:
        folder.replace(path.name, data)


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
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            advice = "let it end, or stop it with Ctrl-C"
            raise BadInput(f"{directory}: another `lab` works on this run now; {advice}") from error
        yield
    finally:
        os.close(descriptor)
