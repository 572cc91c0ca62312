"""Joining small files: reading a thousand of them takes longer than reading what is in them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lab.dataset.engine import Engine, escape_paths
from lab.dataset.folder import Dataset, name_of, rename_durably
from lab.dataset.register import StoredFile, group_files
from lab.dataset.tables import FILE_METADATA, GROUP_ROWS, MOST_ROWS

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
        for table in _ORDER:
            files = sorted(dataset.register.of_sweep(sweep, table), key=lambda file: file.first_block)  # type: ignore[arg-type]
            kept += [
                _join(engine, dataset, group) if len(group) > 1 else group[0]
                for group in group_files(files, MOST_ROWS, MOST_FILES)
            ]
    if len(kept) < before:
        dataset.register.replace_files(kept)
    _remove_others(dataset)
    return before, len(kept)


def _join(engine: Engine, dataset: Dataset, group: Sequence[StoredFile]) -> StoredFile:
    """One file with what is in all of these."""
    first, last = group[0], group[-1]
    path = f"{first.table}/sweep={name_of(first.sweep)}/joined={first.first_block}-{secrets.token_hex(6)}.parquet"
    whole = dataset.path / path
    part = whole.with_name(f".{whole.name}")
    metadata = ", ".join(f"{key}: '{value}'" for key, value in FILE_METADATA.items())
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {GROUP_ROWS}, KV_METADATA {{{metadata}}}"
    source = escape_paths([dataset.check(file) for file in group])
    try:
        engine.execute(
            f"COPY (SELECT * FROM read_parquet(?, union_by_name = true) {_ORDER[first.table]}) "
            f"TO '{_quoted(part)}' ({options})",
            [source],
        )
        size_bytes = rename_durably(part, whole)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    return StoredFile(
        table=first.table, sweep=first.sweep, path=path, rows=sum(file.rows for file in group), size_bytes=size_bytes,
        first_block=first.first_block, blocks=last.first_block + last.blocks - first.first_block,
    )  # fmt: skip


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _remove_others(dataset: Dataset) -> None:
    """Remove files of Parquet that the register does not name: what was joined, and what crashes left."""
    named = {str(dataset.path / file.path) for file in dataset.register.files}
    for table in _ORDER:
        for folder, _, files in os.walk(dataset.path / table):
            for name in files:
                path = Path(folder, name)
                if ".parquet" in name and str(path) not in named:
                    path.unlink()
