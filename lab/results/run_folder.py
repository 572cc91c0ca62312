"""The run folder: what a run was (run.json) and every trial of it (trials.jsonl, one fsynced JSON line each).

A trial is appended and never edited. A crash can tear the last line only; a torn line is moved to trials.torn before
the next append, so that nothing is glued to it and nothing is lost silently. Anything else that cannot be read is an
error that names the file and the line. A password in a text of a host is neither written nor read.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.base import durable, untrusted
from lab.base.errors import BadInput
from lab.base.secret_texts import all_without_secrets, may_hold_secrets
from lab.base.untrusted import from_json
from lab.design.blocks import Ordering
from lab.results.lines import fields_lacking_in, read_line
from lab.results.load import as_entries, load_by_block
from lab.results.run_json import read_run
from lab.results.trial import CEILINGS, SCHEMA, RunJson, problem
from lab.results.trial import Trial as Trial

if TYPE_CHECKING:
    import pandas as pd

    from lab.results.columns import Columns
    from lab.results.decoder import Decoder

JOURNAL = "journal.jsonl"
_APPENDED = ("trials.jsonl", "trials.torn", "samples.jsonl", JOURNAL, "journal.torn", "commands.log")
_TAIL_BYTES = 4096  # looked at from the end of the file for its last line end


class RunFolder:
    """One run on disk: ``path``, ``run`` (the content of run.json) and the paths of what stands beside it.

    Opening one raises :class:`BadInput` when it is not a run folder, or one of a newer lab, or holds what no lab wrote.
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        self.trials_path = self.path / "trials.jsonl"
        self.samples_path = self.path / "samples.jsonl"
        self.manifest_path = self.path / "manifest.txt"  # of a tree that a manifest file describes
        self.journal_path = self.path / JOURNAL
        self.commands_path = self.path / "commands.log"
        self.report_path = self.path / "report"
        self.run: RunJson = all_without_secrets(read_run(self.path / "run.json"))

    @property
    def label(self) -> str:
        """What a person calls it in a command."""
        return str(self.path)

    @classmethod
    def create(cls, results_dir: Path, name: str, run: Mapping[str, object]) -> RunFolder:
        """Make ``results_dir/<UTC>-<name>/`` with a durable run.json that holds ``run`` and the schema."""
        now = datetime.now(UTC)
        path = _make_free_directory(Path(results_dir), f"{now:%Y%m%dT%H%M%SZ}-{name}")
        started_at = now.isoformat(timespec="seconds")
        content = {"schema": SCHEMA, "name": name, "started_at": started_at, **run}
        _write_durably(path / "run.json", all_without_secrets(content))
        durable.sync_directory(path.parent)
        return cls(path)

    def check_own(self) -> None:
        """Raise BadInput where a file of the run is a link, or otherwise none that can be added to."""
        for path in map(self.path.joinpath, _APPENDED):
            if os.path.lexists(path):
                try:
                    os.close(durable.open_own(path, os.O_WRONLY))
                except OSError as error:
                    raise BadInput(
                        f"{path}: cannot be added to: {error.strerror}",
                        "go on with a copy: `cp -rL` makes one without links",
                    ) from error

    def text(self, key: str) -> str:
        """A text of run.json that the caller cannot do without. Raises :class:`BadInput` where it is missing."""
        value = self.run.get(key)
        if not isinstance(value, str):
            raise BadInput(f"{self.path / 'run.json'}: {key}: missing")
        return value

    @property
    def left_out(self) -> dict[str, str]:
        """The cases of the sweep that the hosts cannot do, by ``case_id``, and why."""
        return dict(self.run.get("left_out", {}))

    @property
    def ordering(self) -> Ordering:
        """How the orders of its blocks belong together: a run that says nothing of it is from before the mirror."""
        return Ordering(self.run.get("ordering", Ordering.INDEPENDENT))

    @property
    def load(self) -> dict[int, dict[str, float]]:
        """Cores that others than the lab used, by block and host, where that was observed."""
        return load_by_block(self.run)

    def note_load(self, block: int, load: Mapping[str, float]) -> None:
        """Put the load of a block into run.json."""
        self.update(load=as_entries({**self.load, block: load}))

    @property
    def has_transfers(self) -> bool:
        """Whether it holds a trial that is no ceiling. What cannot be read counts: loading says why."""
        try:
            lines = untrusted.read_lines(self.trials_path) if os.path.lexists(self.trials_path) else iter(())
            return any(_may_be_transfer(line) for line in lines)
        except OSError:
            return True

    def update(self, **changes: object) -> None:
        """Add or replace keys of run.json, atomically."""
        changed = all_without_secrets({**self.run, **changes})
        _write_durably(self.path / "run.json", changed)
        self.run = changed

    def append(self, trial: Trial) -> None:
        """Add one trial durably. ValueError, with nothing written, for one that could not be read back."""
        record = all_without_secrets(trial.to_json())
        if wrong := problem(record):
            raise ValueError(f"trial {trial.trial_id}: {wrong}")
        line = json.dumps(record, allow_nan=False)
        from_json(line)
        self._mend_tail()
        durable.append(self.trials_path, line.encode() + b"\n")

    def append_samples(self, trial_id: str, samples: Mapping[str, object]) -> None:
        """Add the course of one trial; nothing that is loaded rests on it, so it is not made durable."""
        if samples:
            course = all_without_secrets({"trial_id": trial_id, **samples})
            durable.append_line(self.samples_path, json.dumps(course, allow_nan=False, separators=(",", ":")))

    def trials(self) -> list[Trial]:
        """Every trial, in order of appending. Raises :class:`BadInput`; tolerates only a torn last line."""
        return list(map(Trial.from_json, self.records()))

    def records(self) -> list[dict[str, Any]]:
        """The same as JSON objects, with what an older schema lacks."""
        lacking, records = fields_lacking_in(self.run["schema"]), []
        for number, line in enumerate(self._lines(), 1):
            record, wrong = read_line(line, lacking)
            if wrong:
                raise self._bad_line(number, wrong)
            records.append(all_without_secrets(record) if may_hold_secrets(line.decode()) else record)
        self._check_unique([record["trial_id"] for record in records])
        return records

    def columns(self) -> tuple[Columns, Decoder]:
        """Every trial, as columns, and the decoder that has their levels. Raises as :meth:`trials` does."""
        # NumPy is slow to import, and a run that is only added to needs none
        from lab.results.columns import join
        from lab.results.decoder import Decoder
        from lab.results.reader import read_columns

        decoder = Decoder(self.run["schema"])
        whole, tail = self._whole_and_tail()
        try:
            columns = read_columns(self.trials_path, whole, decoder) if whole else decoder.of_trials([])
        except OSError as error:
            raise self._unreadable(error) from error
        if _is_json(tail) and not columns.problem:
            columns = join([columns, decoder.of_lines(tail + b"\n")])
        if columns.problem:
            raise self._bad_line(len(columns) + 1, columns.problem)
        self._check_unique(columns.trial_ids)
        return columns, decoder

    def _lines(self) -> Iterator[bytes]:
        """The lines of trials.jsonl, without one that was cut short. Raises BadInput."""
        try:
            for line in untrusted.read_lines(self.trials_path) if os.path.lexists(self.trials_path) else ():
                if line.endswith(b"\n") or _is_json(line):
                    yield line.removesuffix(b"\n")
        except OSError as error:
            raise self._unreadable(error) from error

    def _check_unique(self, trial_ids: list[str]) -> None:
        if len(set(trial_ids)) == len(trial_ids):
            return
        first_lines: dict[str, int] = {}
        for number, trial_id in enumerate(trial_ids, 1):
            if (first := first_lines.setdefault(trial_id, number)) != number:
                raise self._bad_line(number, f"trial_id {trial_id} stands in line {first} already")

    def _bad_line(self, number: int, wrong: str) -> BadInput:
        return BadInput(f"{self.trials_path}: line {number}: {wrong}")

    def _unreadable(self, error: OSError) -> BadInput:
        return BadInput(f"{self.trials_path}: cannot be read: {error.strerror}")

    def _whole_and_tail(self) -> tuple[int, bytes]:
        """How many bytes there are up to the last line end, and what stands after it (a write was cut short)."""
        try:
            if not os.path.lexists(self.trials_path):
                return 0, b""  # only one that is not there at all is empty: a link that leads nowhere is not
            with untrusted.open_file(self.trials_path) as file:
                end = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise self._unreadable(error) from error
        start, tail = end, b""
        while start > 0 and b"\n" not in tail:
            if len(tail) > untrusted.MOST_LINE_BYTES:
                raise BadInput(f"{self.trials_path}: cannot be read: {untrusted.LONG_LINE}")
            start = max(0, end - 2 * len(tail) - _TAIL_BYTES)
            tail = self._read(start, end)
        whole = start + tail.rfind(b"\n") + 1
        return whole, tail[whole - start :]

    def _read(self, start: int, end: int) -> bytes:
        """The bytes of trials.jsonl from ``start`` to ``end``."""
        if start == end:
            return b""
        try:
            with untrusted.open_file(self.trials_path) as file:
                file.seek(start)
                return file.read(end - start) or b""
        except OSError as error:
            raise self._unreadable(error) from error

    def _mend_tail(self) -> None:
        """Move a torn last line aside; finish one that lacks nothing but its line end."""
        whole, tail = self._whole_and_tail()
        if not tail:
            return
        if _is_json(tail):
            durable.append(self.trials_path, b"\n")
            return
        # Aside first, cut off second: a crash between the two leaves a copy too many, never one too few.
        durable.append(self.path / "trials.torn", tail + b"\n")
        durable.cut_off(self.trials_path, whole)


def load(path: Path) -> pd.DataFrame:
    """A run as one tidy frame: one row a trial, every field a column, and what follows from the fields.

    Added: each of OPTIONS, ``bytes_per_s``, ``MB_per_s`` (10^6), ``share_of_ceiling``, and ``client_cpu_s_per_GB`` and
    ``server_cpu_s_per_GB`` (10^9); NaN where not measurable. ``observed`` is JSON text, which :func:`observed` makes
    columns of. ``attrs["run"]`` is run.json. Raises :class:`BadInput`.
    """
    # pandas is slow to import, and a run that is only added to needs none
    from lab.results import dataframe
    from lab.results.file_texts import OpenFile

    folder = RunFolder(path)
    columns, decoder = folder.columns()
    try:
        file = OpenFile(folder.trials_path) if len(columns) else None
        return dataframe.make_frame(columns, decoder, folder.run, file)
    except ValueError as error:
        raise BadInput(f"{folder.trials_path}: {error}") from error


def _may_be_transfer(line: bytes) -> bool:
    try:
        record = from_json(line.decode())
    except ValueError:
        return line.endswith(b"\n")  # a torn last line is no trial
    return not isinstance(record, dict) or record.get("protocol") not in CEILINGS


def _is_json(line: bytes) -> bool:
    try:
        from_json(line.decode())
    except ValueError:
        return False
    return True


def _make_free_directory(parent: Path, name: str) -> Path:
    names = itertools.chain([name], (f"{name}-{count}" for count in itertools.count(2)))
    path = next(parent / candidate for candidate in names if not (parent / candidate).exists())
    parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700)
    return path


def _write_durably(path: Path, content: Mapping[str, object]) -> None:
    """Replace a file as a whole: after a crash it is the old one or the new one."""
    durable.replace(path, json.dumps(content, indent=2).encode())
