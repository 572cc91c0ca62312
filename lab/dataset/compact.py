"""Joining small files: reading a thousand of them takes longer than reading what is in them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from lab import __version__
from lab.dataset.engine import Engine, names
from lab.dataset.folder import SCHEMA, Dataset, name_of, rename_durably
from lab.dataset.register import StoredFile
from lab.dataset.tables import GROUP_ROWS, MOST_ROWS
from lab.results.trial import SCHEMA as TRIAL_SCHEMA

MOST_FILES = 1000  # joined at once: each is open meanwhile
_ORDER = {"trials": "ORDER BY case_number, block_number, position", "observed": ""}


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
            kept += [_join(engine, dataset, group) if len(group) > 1 else group[0] for group in _groups(files)]
    if len(kept) < before:
        dataset.register.replace_files(kept)
    _remove_others(dataset)
    return before, len(kept)


def _groups(files: Sequence[StoredFile]) -> Iterator[list[StoredFile]]:
    """Files that follow one another, of MOST_ROWS together where they have no more by themselves."""
    group: list[StoredFile] = []
    for file in files:
        if group and (sum(one.rows for one in group) + file.rows > MOST_ROWS or len(group) == MOST_FILES):
            yield group
            group = []
        group.append(file)
    if group:
        yield group


def _join(engine: Engine, dataset: Dataset, group: Sequence[StoredFile]) -> StoredFile:
    """One file with what is in all of these."""
    first, last = group[0], group[-1]
    path = f"{first.table}/sweep={name_of(first.sweep)}/joined={first.first_block}-{secrets.token_hex(6)}.parquet"
    whole = dataset.path / path
    part = whole.with_name(f".{whole.name}")
    about = {"schema": TRIAL_SCHEMA, "dataset_schema": SCHEMA, "written_by": f"file-share-lab {__version__}"}
    pairs = ", ".join(f"{key}: '{value}'" for key, value in about.items())
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {GROUP_ROWS}, KV_METADATA {{{pairs}}}"
    source = names([dataset.check(file) for file in group])
    try:
        engine.do(
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
