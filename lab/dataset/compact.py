"""Joining small files, because opening a thousand of them takes longer than reading their content."""

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

MOST_FILES = 1000  # joined at once; all are open meanwhile
_ORDER = {"trials": "ORDER BY case_number, block_number, position", "observed": "", "limits": ""}


def compact(engine: Engine, dataset: Dataset) -> tuple[int, int]:
    """Join the files of a dataset that is claimed (:meth:`Dataset.claimed`); their number before and after.

    Only consecutive files are joined, so that blocks stay in order. A crash leaves the dataset as before; leftovers of
    crashes are removed.
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
    """One file with the content of all of these; made in the engine's folder, because DuckDB would follow a link."""
    first, last = group[0], group[-1]
    name = f"joined={first.first_block}-{secrets.token_hex(6)}.parquet"
    joined = StoredFile(
        table=first.table, sweep=first.sweep, path=f"{first.table}/{folder_of(first.sweep)}/{name}",
        rows=sum(file.rows for file in group), size_bytes=0, first_block=first.first_block,
        blocks=last.first_block + last.blocks - first.first_block,
    )  # fmt: skip
    made = engine.scratch / name
    quoted = str(made).replace("'", "''")
    metadata = ", ".join(f"{key}: '{value}'" for key, value in FILE_METADATA.items())
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {GROUP_ROWS}, KV_METADATA {{{metadata}}}"
    source = escape_paths([dataset.check(file, whole=True) for file in group])
    try:
        engine.execute(
            f"COPY (SELECT * FROM read_parquet(?, union_by_name = true) {_ORDER[first.table]}) "
            f"TO '{quoted}' ({options})",
            [source],
        )
        return dataset.store(joined, partial(_copy, made))
    finally:
        made.unlink(missing_ok=True)


def _copy(path: Path, to: IO[bytes]) -> int:
    with path.open("rb") as file:
        shutil.copyfileobj(file, to)
    return to.tell()


def _remove_others(dataset: Dataset) -> None:
    """Remove files of the lab that the register does not name; nothing if it names none, because it may be lost."""
    named = {file.path for file in dataset.register.files}
    for table, name in dataset.folders() if named else ():
        with dataset.entered(table, name) as folder:
            for file in folder.names():
                if f"{table}/{name}/{file}" not in named and _is_labs(folder, file):
                    folder.remove(file)


def _is_labs(folder: Folder, name: str) -> bool:
    """Whether the lab wrote a file, or began to, as this account; by name and content."""
    if not (FILE.fullmatch(name) or PART.fullmatch(name)):
        return False
    try:
        with folder.open_file(name) as file:
            if os.fstat(file.fileno()).st_uid != os.geteuid():
                return False
            return is_labs(file) if FILE.fullmatch(name) else file.read(len(MAGIC)) in (b"", MAGIC)
    except OSError:
        return False
