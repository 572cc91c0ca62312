"""The run folder: what a run was (run.json) and every trial of it (trials.jsonl, one fsynced JSON line each).

A trial is appended and never edited. A crash can tear the last line only; a torn line is moved to trials.torn before
the next append, so that nothing is glued to it and nothing is lost silently. Anything else that cannot be read is an
error that names the file and the line.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import types
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lab import durable
from lab.errors import BadInput
from lab.records import FIELDS, SCHEMA, first_problem, run_problem
from lab.records import Trial as Trial
from lab.untrusted import from_json

JOURNAL = "journal.jsonl"
_DTYPES = {
    frozenset({str}): "str",
    frozenset({bool}): "bool",
    frozenset({int}): "int64",
    frozenset({int, types.NoneType}): "Int64",
    frozenset({float, int, types.NoneType}): "float64",
}


class RunFolder:
    """One run on disk: ``path``, ``run`` (the content of run.json) and the paths of what stands beside it.

    Opening one raises :class:`BadInput` when it is not a run folder, or one of a newer lab, or holds what no lab wrote.
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        self.trials_path = self.path / "trials.jsonl"
        self.journal_path = self.path / JOURNAL
        self.commands_path = self.path / "commands.log"
        self.report_path = self.path / "report"
        self.run = _read_run(self.path / "run.json")

    @classmethod
    def create(cls, results_dir: Path, name: str, run: dict[str, Any]) -> RunFolder:
        """Make ``results_dir/<UTC>-<name>/`` with a durable run.json that holds ``run`` and the schema."""
        now = datetime.now(UTC)
        path = _make_free_directory(Path(results_dir), f"{now:%Y%m%dT%H%M%SZ}-{name}")
        started_at = now.isoformat(timespec="seconds")
        _write_durably(path / "run.json", {"schema": SCHEMA, "name": name, "started_at": started_at} | run)
        durable.sync_directory(path.parent)
        return cls(path)

    def text(self, key: str) -> str:
        """A text of run.json that the caller cannot do without. Raises :class:`BadInput` where it is missing."""
        value = self.run.get(key)
        if not isinstance(value, str):
            raise BadInput(f"{self.path / 'run.json'}: {key}: missing")
        return value

    def update(self, **changes: Any) -> None:
        """Add or replace keys of run.json, atomically."""
        changed = self.run | changes
        _write_durably(self.path / "run.json", changed)
        self.run = changed

    def append(self, trial: Trial) -> None:
        """Add one trial durably. ValueError, with nothing written, for one that could not be read back."""
        record = dataclasses.asdict(trial)
        if problem := first_problem([record]):
            raise ValueError(f"trial {trial.trial_id}: {problem[1]}")
        line = json.dumps(record, allow_nan=False).encode()
        self._mend_tail()
        durable.append(self.trials_path, line + b"\n")

    def trials(self) -> list[Trial]:
        """Every trial, in order of appending. Raises :class:`BadInput`; tolerates only a torn last line."""
        return [Trial(**record) for record in self.records()]

    def records(self) -> list[dict[str, Any]]:
        """Every trial as a checked dict of its fields. Raises :class:`BadInput`; tolerates only a torn last line."""
        whole, tail = self._whole_and_tail()
        records = [self._parse(line, number) for number, line in enumerate(whole.split(b"\n")[:-1], 1)]
        if _is_json(tail):
            records.append(self._parse(tail, len(records) + 1))
        if problem := first_problem(records):
            raise self._bad_line(problem[0] + 1, problem[1])
        return records

    def _parse(self, line: bytes, number: int) -> Any:
        try:
            return from_json(line.decode())
        except ValueError as error:
            raise self._bad_line(number, f"not a trial: {error}") from error

    def _bad_line(self, number: int, problem: str) -> BadInput:
        return BadInput(f"{self.trials_path}: line {number}: {problem}")

    def _whole_and_tail(self) -> tuple[bytes, bytes]:
        """All bytes up to the last line end, and what stands after it (empty unless a write was cut short)."""
        content = self._content()
        end = content.rfind(b"\n") + 1
        return content[:end], content[end:]

    def _content(self) -> bytes:
        """What trials.jsonl holds. Only one that is not there at all is empty: a link that leads nowhere is not."""
        try:
            if not os.path.lexists(self.trials_path):
                return b""
            if self.trials_path.is_file():
                return self.trials_path.read_bytes()
        except OSError as error:
            raise BadInput(f"{self.trials_path}: cannot be read: {error.strerror}") from error
        raise BadInput(f"{self.trials_path}: cannot be read: not a file, or a link that leads to none")

    def _mend_tail(self) -> None:
        """Move a torn last line aside; finish one that lacks nothing but its line end."""
        whole, tail = self._whole_and_tail() if not _ends_with_newline(self.trials_path) else (b"", b"")
        if not tail:
            return
        if _is_json(tail):
            durable.append(self.trials_path, b"\n")
            return
        # Aside first, cut off second: a crash between the two leaves a copy too many, never one too few.
        durable.append(self.path / "trials.torn", tail + b"\n")
        with self.trials_path.open("r+b") as file:
            file.truncate(len(whole))
            os.fsync(file.fileno())


def newest(results_dir: Path) -> RunFolder:
    """The last run by name, thus by UTC time of its start. Raises :class:`BadInput` when there is none."""
    runs = sorted(file.parent for file in Path(results_dir).glob("*/run.json"))
    if not runs:
        raise BadInput(f"{results_dir}: holds no run; `lab run SWEEP` makes one")
    return RunFolder(runs[-1])


def load(path: Path) -> pd.DataFrame:
    """A run as one tidy frame: one row a trial, every field a column, and what follows from the fields.

    Added: ``bytes_per_s``, ``MB_per_s`` (10^6), ``share_of_ceiling``, and ``client_cpu_s_per_GB`` and
    ``server_cpu_s_per_GB`` (10^9); NaN where not measurable. ``attrs["run"]`` is run.json. Raises :class:`BadInput`.
    """
    folder = RunFolder(path)
    records = folder.records()
    frame = pd.DataFrame({name: _column(name, [record[name] for record in records]) for name in FIELDS})
    if (unreadable := frame["started_at"].isna()).any():
        line = unreadable.tolist().index(True) + 1
        raise BadInput(f"{folder.trials_path}: line {line}: started_at is not an ISO 8601 time")
    frame["bytes_per_s"] = _quotient(frame["size_bytes"], frame["elapsed_s"])
    frame["MB_per_s"] = frame["bytes_per_s"] / 1e6
    frame["share_of_ceiling"] = _quotient(frame["bytes_per_s"], frame["ceiling_bytes_per_s"])
    for side in ("client", "server"):
        frame[f"{side}_cpu_s_per_GB"] = _quotient(frame[f"{side}_cpu_s"], frame["size_bytes"] / 1e9)
    frame.attrs["run"] = folder.run
    return frame


def _column(name: str, values: list[Any]) -> pd.Series[Any]:
    if name == "started_at":
        times = pd.to_datetime(pd.Series(values, dtype="str"), utc=True, format="ISO8601", errors="coerce")
        return times.astype("datetime64[us, UTC]")
    return pd.Series(values, dtype=_DTYPES.get(FIELDS[name], "object"))


def _quotient(amount: pd.Series[Any], per: pd.Series[Any]) -> pd.Series[Any]:
    return amount / per.where(per > 0, np.nan)


def _read_run(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            raise BadInput(f"{path.parent}: not a run folder: it has no run.json")
        run: dict[str, Any] = from_json(path.read_bytes().decode())
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
    schema = run.get("schema") if isinstance(run, dict) else None
    if not isinstance(schema, int) or schema < 1:
        raise BadInput(f"{path}: not the run.json of a run: it names no schema")
    if schema > SCHEMA:
        raise BadInput(f"{path}: schema {schema} is newer than this lab's ({SCHEMA}): update the lab")
    for key, value in run.items():
        if problem := run_problem(key, value):
            raise BadInput(f"{path}: {problem}")
    return run


def _is_json(line: bytes) -> bool:
    try:
        from_json(line.decode())
    except ValueError:
        return False
    return True


def _ends_with_newline(path: Path) -> bool:
    """True too for a file that is empty or missing: there is nothing to glue to."""
    if not path.exists() or path.stat().st_size == 0:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _make_free_directory(parent: Path, name: str) -> Path:
    names = itertools.chain([name], (f"{name}-{count}" for count in itertools.count(2)))
    path = next(parent / candidate for candidate in names if not (parent / candidate).exists())
    path.mkdir(parents=True)
    return path


def _write_durably(path: Path, content: dict[str, Any]) -> None:
    """Replace a file as a whole: after a crash it is the old one or the new one."""
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    durable.sync_directory(path.parent)
