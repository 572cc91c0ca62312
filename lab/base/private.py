"""Files that only this user can read or write, opened without following links."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.os_errors import remedy
from lab.base.untrusted import open_file, read_all

MOST_BYTES = 65536  # of a private file
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class PrivateFolder:
    """This user's folder of mode 0700, created if missing, with files of mode 0600.

    Every method raises BadInput with a remedy if folder or file is somebody else's, open to others, or of another type.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                path.mkdir(mode=0o700)
        except OSError as error:
            raise self._refuse(error.strerror or str(error)) from error
        with self._entered():
            pass

    def names(self) -> list[str]:
        """The files in the folder."""
        with self._entered() as folder:
            return sorted(name for name in os.listdir(folder) if not name.endswith(".part"))  # noqa: PTH208

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it is missing."""
        with self._entered() as folder:
            try:
                with open_file(Path(name), alone=True, folder=folder) as file:
                    if wrong := _foreign(os.fstat(file.fileno())):
                        raise BadInput(f"{self.path / name}: {wrong}")
                    return read_all(file, MOST_BYTES, self.path / name)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise BadInput(f"{self.path / name}: {error.strerror}") from error

    def write(self, name: str, content: bytes) -> None:
        """Write a file durably, replacing an existing one."""
        with self._entered() as folder, self._part(folder, content) as part:
            os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

    def create(self, name: str, content: bytes) -> None:
        """Write a file durably, unless it exists."""
        with self._entered() as folder, self._part(folder, content) as part:
            with suppress(FileExistsError):
                os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            os.unlink(part, dir_fd=folder)
            os.fsync(folder)

    def remove(self, name: str) -> None:
        """Remove a file durably, if it exists."""
        with self._entered() as folder:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            os.fsync(folder)

    @contextmanager
    def _part(self, folder: int, content: bytes) -> Iterator[str]:
        """A new file with this content on disk, under a temporary name."""
        part = f"{secrets.token_hex(8)}.part"
        try:
            with os.fdopen(os.open(part, _WRITE, 0o600, dir_fd=folder), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            yield part
        except OSError as error:
            with suppress(OSError):
                os.unlink(part, dir_fd=folder)
            raise BadInput(f"{self.path}: cannot be written to: {error.strerror}", remedy(error)) from error

    @contextmanager
    def _entered(self) -> Iterator[int]:
        """The descriptor of the folder, after a check that it is this user's own."""
        try:
            folder = os.open(self.path, _FOLDER)
        except OSError as error:
            wrong = "it is a link" if self.path.is_symlink() else error.strerror or str(error)
            raise self._refuse(wrong) from error
        try:
            if wrong := _foreign(os.fstat(folder)):
                raise self._refuse(wrong)
            yield folder
        finally:
            os.close(folder)

    def _refuse(self, wrong: str) -> BadInput:
        remedy = "it must be a folder of your own, of mode 0700; XDG_STATE_HOME names another place for it"
        return BadInput(f"{self.path}: {wrong}", remedy)


def _foreign(status: os.stat_result) -> str:
    """Why a file or folder is not this user's alone; empty if it is."""
    if status.st_uid != os.geteuid():
        return f"belongs to user {status.st_uid}, not to you ({os.geteuid()})"
    if status.st_mode & 0o077:
        return f"is open to others (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""
