"""The folder of a dataset: what it is, that its files are what its register says, and files that come whole or not."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import string
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from lab.base import durable
from lab.base.errors import BadInput
from lab.base.os_errors import naming
from lab.base.untrusted import MOST_INPUT_BYTES, from_json, read_file
from lab.dataset.register import AGAIN, Register, StoredFile
from lab.results.export_table import Kind, kinds
from lab.results.trial import SCHEMA as TRIAL_SCHEMA

if TYPE_CHECKING:
    from pyarrow import parquet

SCHEMA = 1  # of the folder, and of its files of Parquet
INSTALL = "pip install file-share-lab[dataset]"
ABOUT = "dataset.json"
# The columns that statistics read, in each file of a table, with their types
NEEDED = {
    "trials": {
        "case_number": "int32", "block_number": "int32", "status": "string", "anchor": "bool", "size_bytes": "int64",
        "elapsed_s": "double", "ceiling_bytes_per_s": "double", "run_id": "string", "trial_id": "string",
        "position": "int64", "files": "int64",
    },
    "observed": {"run_id": "string", "trial_id": "string"},
    "limits": {
        "case_number": "int32", "block_number": "int32", "limited_by": "string", "grade": "string",
        "headroom": "double", "evidence": "string",
    },
}  # fmt: skip
_TYPES: dict[Kind, str] = {str: "string", int: "int64", float: "double", bool: "bool"}
MOST_GROUP_BYTES = 1 << 30  # of a row group, unpacked: the lab's have 20 MB
_PLAIN = frozenset(string.ascii_letters + string.digits + "-_.")
_LONGEST_NAME = 100


class Dataset:
    """One dataset on disk. Opening one raises BadInput where it is none, or one of a newer lab."""

    def __init__(self, path: Path):
        self.path = path
        about = path / ABOUT
        try:
            content = from_json(read_file(about, MOST_INPUT_BYTES).decode())
        except (FileNotFoundError, NotADirectoryError) as error:
            raise BadInput(f"{path}: not a dataset: it has no {ABOUT}", "`lab dataset add RUN…` makes one") from error
        except (OSError, ValueError) as error:
            raise BadInput(f"{about}: cannot be read: {error}") from error
        schema = content.get("schema") if isinstance(content, dict) else None
        if type(schema) is not int or schema < 1:
            raise BadInput(f"{about}: names no schema of a dataset", AGAIN)
        if schema > SCHEMA:
            raise BadInput(f"{about}: schema {schema} is newer than this lab's ({SCHEMA})", "update the lab")
        self.register = Register(path)

    @classmethod
    def at(cls, path: Path) -> Dataset:
        """The dataset of a folder, which is made where it is missing. Raises BadInput for a folder of anything else."""
        if not os.path.lexists(path / ABOUT):
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise BadInput(f"{path}: holds something else than a dataset", "name a new folder: --dataset DIR")
            durable.create(path / ABOUT, json.dumps({"schema": SCHEMA, "trial_schema": TRIAL_SCHEMA}).encode())
        return cls(path)

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Be the only process that writes into it, with a register that is read anew. Raises BadInput."""
        with durable.claimed(self.path):
            self.register = Register(self.path)
            yield

    @property
    def sweeps(self) -> list[str]:
        """The names of its sweeps, by name."""
        return sorted({run.sweep for run in self.register.runs.values()})

    def path_of(self, file: StoredFile) -> Path:
        """Where a file stands. Raises BadInput for one that is not inside, is a link, or is not as long as it was."""
        inside = PurePosixPath(file.path)
        place = self.path / inside
        if inside.is_absolute() or ".." in inside.parts or not _is_own(self.path, inside):
            raise BadInput(f"{place}: is a link, or not inside of the dataset", AGAIN)
        size = place.stat().st_size
        if size != file.size_bytes:
            raise BadInput(f"{place}: has {size:,} bytes, and had {file.size_bytes:,} when it was written", AGAIN)
        return place

    def check(self, file: StoredFile) -> Path:
        """Where a file stands, after a look at what it says of itself. Raises BadInput where that cannot be."""
        path = self.path_of(file)
        if problem := _problem(path, file):
            raise BadInput(f"{path}: {problem}", AGAIN)
        return path


def check_installed(*modules: str) -> None:
    """Raise BadInput where one of these is not installed."""
    from importlib.util import find_spec

    if lacking := [name for name in modules if find_spec(name) is None]:
        raise BadInput(f"a dataset needs {' and '.join(lacking)}, which is not installed", f"`{INSTALL}`")


def name_of(text: str) -> str:
    """A text as a part of a path: other characters as ``%2F``, and what is too long by its hash."""
    quoted = "".join(sign if sign in _PLAIN else "".join(f"%{byte:02X}" for byte in sign.encode()) for sign in text)
    if len(quoted) <= _LONGEST_NAME:
        return quoted
    return f"{quoted[: _LONGEST_NAME // 2]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that is there, durably, once all of it is written; after an error or a crash there is none, or the one
    that there was. Raises OSError that names it.
    """
    make_folders(path.parent)
    part = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with naming(path), os.fdopen(os.open(part, flags, 0o600 | path.parent.stat().st_mode & 0o044), "wb") as file:
            yield file
        rename_durably(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def rename_durably(part: Path, path: Path) -> int:
    """Give a file that was written its name, with all of it on the disk; its bytes. Raises OSError."""
    with naming(path), part.open("rb") as file:
        os.fsync(file.fileno())
        size_bytes = os.fstat(file.fileno()).st_size
    part.replace(path)
    durable.sync_directory(path.parent)
    return size_bytes


def make_folders(path: Path) -> None:
    """Make a folder durably, and those above it, where they are missing."""
    if not path.is_dir():
        make_folders(path.parent)
        path.mkdir(exist_ok=True)
        durable.sync_directory(path.parent)


def _is_own(folder: Path, inside: PurePosixPath) -> bool:
    """Whether it is an ordinary file below a folder, and nothing on the way to it is a link."""
    place = folder
    for part in inside.parts:
        place = place / part
        try:
            mode = place.lstat().st_mode
        except OSError as error:
            raise BadInput(f"{place}: cannot be read: {error.strerror}", AGAIN) from error
        if stat.S_ISLNK(mode):
            return False
    return stat.S_ISREG(mode)


def _problem(place: Path, file: StoredFile) -> str:
    """What is wrong with a file by its footer; empty where nothing is."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(
            place, thrift_string_size_limit=1 << 24, thrift_container_size_limit=1 << 20
        ) as parquet_file:
            metadata, schema = parquet_file.metadata, parquet_file.schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:
        return f"not a whole file of Parquet: {str(error).splitlines()[0]:.200}"
    written = (metadata.metadata or {}).get(b"dataset_schema")
    if written != str(SCHEMA).encode():
        return f"is of schema {(written or b'none').decode(errors='replace'):.20} of a dataset, not of {SCHEMA}"
    if metadata.num_rows != file.rows:
        return f"has {metadata.num_rows:,} rows, and had {file.rows:,} when it was written"
    return _problem_of_groups(metadata) or _problem_of_columns(file, schema)


def _problem_of_groups(metadata: parquet.FileMetaData) -> str:
    sizes = (metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    too_large = next((size for size in sizes if not 0 <= size <= MOST_GROUP_BYTES), None)
    return "" if too_large is None else f"a row group of {too_large:,} bytes: at most {MOST_GROUP_BYTES:,}"


def _problem_of_columns(file: StoredFile, schema: Iterable[object]) -> str:
    types = {field.name: str(field.type) for field in schema}  # type: ignore[attr-defined]
    counted = kinds() if file.table == "observed" else {}
    needed = NEEDED.get(file.table, {}) | {name: _TYPES[counted[name]] for name in types if name in counted}
    mistyped = [name for name, kind in needed.items() if types.get(name) != kind]
    if not mistyped:
        return ""
    name = mistyped[0]
    return f"column {name} is {types.get(name, 'missing')}: should be {needed[name]}"
