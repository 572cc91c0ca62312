"""Adding a run to a dataset: once, and as a whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lab import stats
from lab.base import untrusted
from lab.base.errors import BadInput
from lab.dataset.folder import Dataset
from lab.dataset.parquet_file import MOST_ROWS
from lab.dataset.register import LONGEST_ID, Entry, StoredFile, StoredRun, Table, folder_of, name_of
from lab.dataset.tables import Rows, limits_table, observed_table, trials_table, write
from lab.results import run_folder
from lab.results.export_table import facts_of
from lab.results.run_folder import RunFolder
from lab.stats import bottleneck
from lab.stats.factors import factors_of

if TYPE_CHECKING:
    import pyarrow as pa

    from lab.results.export_table import Row


def add(dataset: Dataset, folder: RunFolder, *, with_unfinished: bool = False) -> bool:
    """Add a run to a dataset that is claimed (:meth:`Dataset.claimed`); False if it is there already.

    Raises BadInput if the run cannot be read, is unfinished, or was added with other trials, and OSError if the disk is
    full. Then the dataset is as before.
    """
    if not with_unfinished:
        folder.check_finished("added")
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
    """Write the files of a run; return its entry in the register."""
    frame = run_folder.load(folder.path)
    if not len(frame):
        raise BadInput(f"{folder.label}: holds no trial")
    encoded = stats.encode(frame)
    run = _about(folder, facts, digest, encoded)
    dataset.register.check(run, folder.label)
    factors = factors_of(frame.columns)
    cells = encoded.cells(factors, np.ones(len(frame), dtype=bool))
    levels = [{name: cells.levels[name][code] for name, code in zip(factors, row, strict=True)} for row in cells.codes]
    numbers = np.array(dataset.register.number_cases(levels), np.int32)
    block = np.unique(frame["block"].to_numpy(), return_inverse=True)[1]
    rows = Rows(frame, numbers[cells.cell], (block + dataset.register.blocks[run.sweep]).astype(np.int32))
    files: list[StoredFile] = []
    try:
        for number, piece in enumerate(_pieces(rows)):
            suffix = f".{number}" if number else ""
            files.append(_store(dataset, "trials", trials_table(piece, facts), piece, run, suffix))
            files.append(_store(dataset, "observed", observed_table(piece, facts), piece, run, suffix))
        files.append(_store(dataset, "limits", _limits(encoded, rows, facts), rows, run))
    except BaseException:
        for file in files:
            dataset.remove(file)
        raise
    return Entry(run, tuple(files))


def _about(folder: RunFolder, facts: Row, digest: str, encoded: stats.Encoded) -> StoredRun:
    """The run for the register. Raises BadInput for a long id, because each row has it."""
    frame = encoded.frame
    if max(map(len, frame["trial_id"])) > LONGEST_ID:
        raise BadInput(f"{folder.label}: a trial_id of more than {LONGEST_ID} characters")
    return StoredRun(
        run_id=str(facts["run_id"]), sweep=str(facts["run_name"] or "unnamed"), sha256=digest, trials=len(frame),
        blocks=frame["block"].nunique(), where=stats.provenance(encoded)[0],
        options=tuple(name for name in factors_of(frame.columns) if name not in stats.FACTORS),
        started_at=str(facts["run_started_at"] or ""), saved_as=str(folder.run.get("saved_as") or ""), is_judged=True,
    )  # fmt: skip


def _store(dataset: Dataset, kind: Table, table: pa.Table, rows: Rows, run: StoredRun, suffix: str = "") -> StoredFile:
    """Write a table made from these rows into a new file."""
    first, last = int(rows.block.min()), int(rows.block.max())
    file = StoredFile(
        table=kind, sweep=run.sweep, path=f"{kind}/{folder_of(run.sweep)}/run={name_of(run.run_id)}{suffix}.parquet",
        rows=table.num_rows, size_bytes=0, first_block=first, blocks=last - first + 1,
    )  # fmt: skip
    return dataset.store(file, partial(write, table))


def _limits(encoded: stats.Encoded, rows: Rows, facts: Row) -> pa.Table:
    """The verdicts on the cases of a run, which need its own link and load."""
    verdicts = bottleneck.verdicts(encoded)
    case_of = dict(zip(rows.frame["case_id"], rows.case.tolist(), strict=True))
    case = np.array([case_of[case_id] for case_id in verdicts["case_id"]], np.int32)
    return limits_table(verdicts, case, int(rows.block.min()), facts)


def _pieces(rows: Rows) -> Iterator[Rows]:
    """The rows in sorted pieces of whole blocks."""
    in_order = np.argsort(rows.block, kind="stable")
    ends = np.cumsum(np.unique(rows.block, return_counts=True)[1])
    start = 0
    while start < len(in_order):
        fitting = ends[(ends > start) & (ends <= start + MOST_ROWS)]
        end = int(fitting[-1]) if len(fitting) else int(ends[ends > start][0])
        yield rows.take(in_order[start:end]).sorted()
        start = end


def _digest(path: Path) -> str:
    """The SHA-256 of a file of trials. Raises BadInput, also for too long a line (a sparse file has no end)."""
    digest = hashlib.sha256()
    try:
        for line in untrusted.read_lines(path):
            digest.update(line)
    except FileNotFoundError:  # nothing was measured
        pass
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    return digest.hexdigest()
