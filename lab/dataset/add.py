"""Adding a run to a dataset: what is there is there once, and a crash on the way leaves all as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lab import stats
from lab.base import untrusted
from lab.base.errors import BadInput
from lab.dataset.folder import Dataset, name_of
from lab.dataset.register import Entry, StoredFile, StoredRun, Table
from lab.dataset.tables import MOST_ROWS, Rows, limits_table, observed_table, trials_table, write
from lab.results import run_folder
from lab.results.export_table import facts_of
from lab.results.run_folder import RunFolder
from lab.stats import bottleneck
from lab.stats.factors import factors_of

if TYPE_CHECKING:
    import pyarrow as pa

    from lab.results.export_table import Row


def add(dataset: Dataset, folder: RunFolder, *, with_unfinished: bool = False) -> bool:
    """Add a run to a dataset that is claimed (:meth:`Dataset.claimed`); False where it was there already.

    Raises BadInput for one that cannot be read, that is still going on, or that was added with other trials, and
    OSError where it does not fit on the disk. With any of these the dataset is as it was.
    """
    if not folder.run.get("finished_at") and not with_unfinished:
        raise BadInput(
            f"{folder.label}: not finished: it is still running, or was killed",
            f"`lab run --resume {folder.label}` goes on with it; with --unfinished what it has is added",
        )
    facts, digest = facts_of(folder), _digest(folder.trials_path)
    run_id = str(facts["run_id"])
    if stored := dataset.register.runs.get(run_id):
        if stored.sha256 == digest:
            return False
        raise BadInput(
            f"{folder.label}: run {run_id} is in {dataset.path} already, with other trials ({stored.trials:,})",
            "add it to a new dataset: --dataset DIR",
        )
    dataset.register.enter(_write(dataset, folder, facts, digest))
    return True


def _write(dataset: Dataset, folder: RunFolder, facts: Row, digest: str) -> Entry:
    """Write the files of a run; what the register has to say of it."""
    frame = run_folder.load(folder.path)
    if not len(frame):
        raise BadInput(f"{folder.label}: holds no trial")
    encoded = stats.encode(frame)
    factors = factors_of(frame.columns)
    cells = encoded.cells(factors, np.ones(len(frame), dtype=bool))
    levels = [{name: cells.levels[name][code] for name, code in zip(factors, row, strict=True)} for row in cells.codes]
    numbers = np.array(dataset.register.number_cases(levels), np.int32)
    sweep = str(facts["run_name"] or "unnamed")
    first_block = dataset.register.blocks[sweep]
    blocks, block = np.unique(frame["block"].to_numpy(), return_inverse=True)
    rows = Rows(frame, numbers[cells.cell], (block + first_block).astype(np.int32))
    files: list[StoredFile] = []
    try:
        for file in _write_files(dataset.path, rows, facts, sweep):
            files.append(file)
        files.append(_write_limits(dataset.path, encoded, rows, facts, sweep))
    except BaseException:
        for file in files:
            (dataset.path / file.path).unlink(missing_ok=True)
        raise
    return Entry(
        StoredRun(
            run_id=str(facts["run_id"]), sweep=sweep, sha256=digest, trials=len(frame), blocks=len(blocks),
            options=tuple(name for name in factors if name not in stats.FACTORS), where=stats.provenance(encoded)[0],
            started_at=str(facts["run_started_at"] or ""), saved_as=str(folder.run.get("saved_as") or ""),
            is_judged=True,
        ),
        tuple(files),
    )  # fmt: skip


def _write_files(folder: Path, rows: Rows, facts: Row, sweep: str) -> Iterator[StoredFile]:
    """The files of a run, each of whole blocks and of MOST_ROWS where these have no more."""
    for number, piece in enumerate(_pieces(rows)):
        name = f"run={name_of(str(facts['run_id']))}{f'.{number}' if number else ''}.parquet"
        tables: dict[Table, pa.Table] = {"trials": trials_table(piece, facts), "observed": observed_table(piece, facts)}
        first, last = int(piece.block.min()), int(piece.block.max())
        for kind, table in tables.items():
            path = f"{kind}/sweep={name_of(sweep)}/{name}"
            yield StoredFile(
                table=kind, sweep=sweep, path=path, rows=table.num_rows, size_bytes=write(table, folder / path),
                first_block=first, blocks=last - first + 1,
            )  # fmt: skip


def _write_limits(folder: Path, encoded: stats.Encoded, rows: Rows, facts: Row, sweep: str) -> StoredFile:
    """The file of what limited the cases of a run: told by its own link and the load of its blocks, so once for all."""
    verdicts = bottleneck.verdicts(encoded)
    case_of = dict(zip(rows.frame["case_id"], rows.case.tolist(), strict=True))
    case = np.array([case_of[case_id] for case_id in verdicts["case_id"]], np.int32)
    first, last = int(rows.block.min()), int(rows.block.max())
    path = f"limits/sweep={name_of(sweep)}/run={name_of(str(facts['run_id']))}.parquet"
    table = limits_table(verdicts, case, first, facts)
    return StoredFile(
        table="limits", sweep=sweep, path=path, rows=table.num_rows, size_bytes=write(table, folder / path),
        first_block=first, blocks=last - first + 1,
    )  # fmt: skip


def _pieces(rows: Rows) -> Iterator[Rows]:
    """The rows in pieces of whole blocks, each sorted."""
    in_order = np.argsort(rows.block, kind="stable")
    ends = np.cumsum(np.unique(rows.block, return_counts=True)[1])
    start = 0
    while start < len(in_order):
        fitting = ends[(ends > start) & (ends <= start + MOST_ROWS)]
        end = int(fitting[-1]) if len(fitting) else int(ends[ends > start][0])
        yield rows.take(in_order[start:end]).sorted()
        start = end


def _digest(path: Path) -> str:
    """The SHA-256 of a file. Raises BadInput."""
    try:
        with untrusted.open_file(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:  # of a run that has measured nothing
        return hashlib.sha256().hexdigest()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
