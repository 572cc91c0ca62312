"""The folder of a dataset: its files are as its register says, and are written as a whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from lab.base import durable
from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import MOST_INPUT_BYTES, from_json, open_file, read_file
from lab.dataset.parquet_file import SCHEMA, problem
from lab.dataset.register import AGAIN, FOLDER, TABLES, Register, StoredFile, Table, folder_of
from lab.results.trial import SCHEMA as TRIAL_SCHEMA

INSTALL = "pip install file-share-lab[dataset]"
ABOUT = "dataset.json"
LINKED = "move the whole folder of the dataset to where there is room, and name it: --dataset DIR"


class Dataset:
    """One dataset on disk. Raises BadInput if the folder is none, or of a newer lab."""

    def __init__(self, path: Path):
        self.path = path
        about = path / ABOUT
        try:
            content = from_json(read_file(about, MOST_INPUT_BYTES).decode())
        except (FileNotFoundError, NotADirectoryError) as error:
            raise BadInput(f"{path}: not a dataset: it has no {ABOUT}", "`lab dataset add RUN…` makes one") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{about}: cannot be read: {reason_of(error)}", AGAIN) from error
        schema = content.get("schema") if isinstance(content, dict) else None
        if type(schema) is not int or schema < 1:
            raise BadInput(f"{about}: names no schema of a dataset", AGAIN)
        if schema > SCHEMA:
            raise BadInput(f"{about}: schema {schema} is newer than this lab's ({SCHEMA})", "update the lab")
        self._open()

    def _open(self) -> None:
        self.register = Register(self.path)
        self._paths: dict[tuple[int, int], str] = {}  # of files, by device and inode

    @classmethod
    def at(cls, path: Path) -> Dataset:
        """The dataset of a folder, made if missing. Raises BadInput for a folder with other content."""
        if not os.path.lexists(path / ABOUT):
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise BadInput(f"{path}: holds something else than a dataset", "name a new folder: --dataset DIR")
            durable.create(path / ABOUT, json.dumps({"schema": SCHEMA, "trial_schema": TRIAL_SCHEMA}).encode())
        return cls(path)

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Be the only writer, with the register read anew. Raises BadInput, also if a folder in it is a link."""
        with durable.claimed(self.path):
            for table in map(self.path.joinpath, TABLES):
                for place in (table, *table.glob("sweep=*")):
                    if os.path.lexists(place) and not stat.S_ISDIR(place.lstat().st_mode):
                        raise BadInput(f"{place}: a link, or no folder: nothing is written or removed there", LINKED)
            self._open()
            yield

    @contextmanager
    def entered(self, table: Table, folder: str) -> Iterator[durable.Folder]:
        """A folder of a table, made if missing. Raises BadInput if it is a link by now."""
        top = durable.Folder.at(self.path)
        with top, top.enter(table, LINKED) as of_table, of_table.enter(folder, LINKED) as entered:
            yield entered

    def folders(self) -> Iterator[tuple[Table, str]]:
        """The existing folders of files, by table and name."""
        for table in TABLES:
            if (self.path / table).is_dir():
                names = sorted(place.name for place in (self.path / table).iterdir())
                yield from ((table, name) for name in names if FOLDER.fullmatch(name))

    def store(self, file: StoredFile, write: Callable[[IO[bytes]], int]) -> StoredFile:
        """Durably write a new file by ``write``, which returns its size, and check it; return the file with its size.

        Raises OSError that names it, and BadInput if it cannot be read or is another run's; then nothing has changed.
        """
        if any(file.path.casefold() == other.path.casefold() for other in self.register.files):
            message = f"{self.path / file.path}: is there already, of a run whose id differs in signs that no name has"
            raise BadInput(message, "add it to a new dataset: --dataset DIR")
        with (
            self.entered(file.table, folder_of(file.sweep)) as folder,
            folder.writing(file.path.rpartition("/")[2]) as opened,
        ):
            stored = msgspec.structs.replace(file, size_bytes=write(opened))
        try:
            self.check(stored, whole=True)
        except BaseException:
            self.remove(stored)
            raise
        return stored

    def remove(self, file: StoredFile) -> None:
        """Remove a stored file that is not in the register. Raises OSError."""
        with self.entered(file.table, folder_of(file.sweep)) as folder:
            folder.remove(file.path.rpartition("/")[2])
        self._paths = {inode: path for inode, path in self._paths.items() if path != file.path}

    @property
    def sweeps(self) -> list[str]:
        """The names of its sweeps, sorted."""
        return sorted({run.sweep for run in self.register.runs.values()})

    def path_of(self, file: StoredFile) -> Path:
        """The path of a file. Raises BadInput for a link, for another file's hard link, and for another size."""
        place = self.path / file.path
        status = _status(self.path, PurePosixPath(file.path))
        if (size := status.st_size) != file.size_bytes:
            raise BadInput(f"{place}: has {size:,} bytes, and had {file.size_bytes:,} when it was written", AGAIN)
        if (first := self._paths.setdefault((status.st_dev, status.st_ino), file.path)) != file.path:
            raise BadInput(f"{place}: is {first} by another name (a hard link)", AGAIN)
        return place

    def check(self, file: StoredFile, *, whole: bool = False) -> Path:
        """The path of a file, after checks of its footer and pages (of all columns if ``whole``). Raises BadInput."""
        path = self.path_of(file)
        try:
            with open_file(path) as opened:
                wrong = problem(opened, file, whole=whole)
        except OSError as error:
            wrong = f"cannot be read: {error.strerror}"
        if wrong:
            raise BadInput(f"{path}: {wrong}", AGAIN)
        return path


def check_installed(*modules: str) -> None:
    """Raise BadInput if one of these is not installed."""
    from importlib.util import find_spec

    if lacking := [name for name in modules if find_spec(name) is None]:
        raise BadInput(f"a dataset needs {' and '.join(lacking)}, which is not installed", f"`{INSTALL}`")


def _status(folder: Path, inside: PurePosixPath) -> os.stat_result:
    """The status of an ordinary file below a folder. Raises BadInput for anything else, and for a link on the way."""
    place = folder
    for part in inside.parts:
        place = place / part
        try:
            status = place.lstat()
        except OSError as error:
            raise BadInput(f"{place}: cannot be read: {error.strerror}", AGAIN) from error
        if stat.S_ISLNK(status.st_mode):
            raise BadInput(f"{place}: is a link, and so not of the dataset", AGAIN if part == inside.name else LINKED)
    if not stat.S_ISREG(status.st_mode):
        raise BadInput(f"{place}: is no ordinary file", AGAIN)
    return status
