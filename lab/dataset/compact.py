"""Joining small files: reading a thousand of them takes longer than reading what is in them."""

import os
import secrets
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO

from lab.base.durable import Folder
from lab.dataset.engine import Engine, escape_paths
from lab.dataset.folder import Dataset
from lab.dataset.parquet_file import GROUP_ROWS, MAGIC, MOST_ROWS, is_labs
from lab.dataset.register import FILE, PART, TABLES, StoredFile, folder_of, group_files
from lab.dataset.tables import FILE_METADATA

MOST_FILES = 1000  # joined at once: each is open meanwhile
_ORDER = {"trials": "ORDER BY case_number, block_number, position", "observed": "", "limits": ""}


def compact(engine: Engine, dataset: Dataset) -> tuple[int, int]:
    """Join the files of a dataset that is claimed (:meth:`Dataset.claimed`); how many there were, and are.

    Only files that follow one another are joined, so that blocks stay in order. After a crash on the way the dataset is
    as it was; what crashes left behind goes.
    """
    before = len(dataset.register.files)
    kept: list[StoredFile] = []
    for sweep in dataset.sweeps:
        for table in TABLES:
            files = sorted(dataset.register.of_sweep(sweep, table), key=lambda file: file.first_block)
            kept += [
                _join(engine, dataset, group) if len(group) > 1 else group[0]
                for group in group_files(files, MOST_ROWS, MOST_FILES)
            ]
    if len(kept) < before:
        dataset.register.replace_files(kept)
    _remove_others(dataset)
    return before, len(kept)


def _join(engine: Engine, dataset: Dataset, group: Sequence[StoredFile]) -> StoredFile:
    """One file with what is in all of these. It is made in the folder of the engine: DuckDB would follow a link."""
    first, last = group[0], group[-1]
    name = f"joined={first.first_block}-{secrets.token_hex(6)}.parquet"
    joined = StoredFile(
        table=first.table, sweep=first.sweep, path=f"{first.table}/{folder_of(first.sweep)}/{name}",
        rows=sum(file.rows for file in group), size_bytes=0, first_block=first.first_block,
        blocks=last.first_block + last.blocks - first.first_block,
    )  # fmt: skip
    made = engine.scratch / name
    metadata = ", ".join(f"{key}: '{value}'" for key, value in FILE_METADATA.items())
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {GROUP_ROWS}, KV_METADATA {{{metadata}}}"
    source = escape_paths([dataset.check(file, whole=True) for file in group])
    try:
        engine.execute(
            f"COPY (SELECT * FROM read_parquet(?, union_by_name = true) {_ORDER[first.table]}) "
            f"TO '{_quoted(made)}' ({options})",
            [source],
        )
        return dataset.store(joined, partial(_copy, made))
    finally:
        made.unlink(missing_ok=True)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _copy(path: Path, to: IO[bytes]) -> int:
    with path.open("rb") as file:
        shutil.copyfileobj(file, to)
    return to.tell()


def _remove_others(dataset: Dataset) -> None:
    """Remove files of the lab's that the register does not name: what was joined, and what crashes left.

    Where it names none it is lost, or of another dataset: all of them may be all that there is.
    """
    named = {file.path for file in dataset.register.files}
    for table, name in dataset.folders() if named else ():
        with dataset.entered(table, name) as folder:
            for file in folder.names():
                if f"{table}/{name}/{file}" not in named and _is_labs(folder, file):
                    folder.remove(file)


def _is_labs(folder: Folder, name: str) -> bool:
    """Whether a file is one that the lab wrote as this account, or began to, by name and by content."""
    if not (FILE.fullmatch(name) or PART.fullmatch(name)):
        return False
    try:
        with folder.open_file(name) as file:
            if os.fstat(file.fileno()).st_uid != os.geteuid():
                return False
            return is_labs(file) if FILE.fullmatch(name) else file.read(len(MAGIC)) in (b"", MAGIC)
    except OSError:
        return False
