"""The run folder: what a run was (run.json), and its trials (trials.jsonl, one fsynced JSON line each).

A trial is appended and never edited. A crash can cut short only the last line, which is moved to trials.torn before the
next append. Anything else that cannot be read is an error that names the file and the line. Passwords in a host's texts
are neither written nor read.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.base import durable, untrusted
from lab.base.errors import BadInput
from lab.base.secret_texts import all_without_secrets, may_hold_secrets
from lab.base.untrusted import from_json
from lab.design.blocks import Ordering
from lab.results.json_object import RunJson
from lab.results.run_keys import as_entries, load_by_block
from lab.results.trial import CEILINGS, SCHEMA, is_valid, lacking_fields, problem, read_line, read_run
from lab.results.trial import Trial as Trial

if TYPE_CHECKING:
    import pandas as pd

    from lab.results.columns import Columns
    from lab.results.decoder import Decoder

JOURNAL = "journal.jsonl"
_APPENDED = ("trials.jsonl", "trials.torn", "samples.jsonl", JOURNAL, "journal.torn", "commands.log")
_TAIL_BYTES = 4096  # read from the end of the file to find its last line end


class RunFolder:
    """One run on disk: ``path``, ``run`` (the content of run.json), and the paths of its files.

    Raises BadInput if it is not a run folder, or is of a newer lab, or has content that no lab writes.
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        self.trials_path = self.path / "trials.jsonl"
        self.samples_path = self.path / "samples.jsonl"
        self.manifest_path = self.path / "manifest.txt"  # a tree of a manifest file
        self.journal_path = self.path / JOURNAL
        self.commands_path = self.path / "commands.log"
        self.report_path = self.path / "report"
        self.run: RunJson = all_without_secrets(read_run(self.path / "run.json"))

    @property
    def label(self) -> str:
        """Its name in a command."""
        return str(self.path)

    @classmethod
    def create(cls, results_dir: Path, name: str, run: Mapping[str, object]) -> RunFolder:
        """Make ``results_dir/<UTC>-<name>/`` with a durable run.json: the schema, and ``run``."""
        now = datetime.now(UTC)
        first = Path(results_dir) / f"{now:%Y%m%dT%H%M%SZ}-{name}"
        paths = itertools.chain([first], (first.with_name(f"{first.name}-{count}") for count in itertools.count(2)))
        path = next(path for path in paths if not path.exists())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
        content = {"schema": SCHEMA, "name": name, "started_at": now.isoformat(timespec="seconds"), **run}
        durable.replace(path / "run.json", json.dumps(all_without_secrets(content), indent=2).encode())
        durable.sync_directory(path.parent)
        return cls(path)

    def check_own(self) -> None:
        """Raise BadInput if a file of the run is a link, or cannot be added to."""
        for path in map(self.path.joinpath, _APPENDED):
            if os.path.lexists(path):
                try:
                    os.close(durable.open_own(path, os.O_WRONLY))
                except OSError as error:
                    problem = f"{path}: cannot be added to: {error.strerror}"
                    raise BadInput(problem, "go on with a copy: `cp -rL` makes one without links") from error

    def check_finished(self, use: str) -> None:
        """Raise BadInput if the run has not ended; ``use`` says what happens to it with --unfinished."""
        if not self.run.get("finished_at"):
            raise BadInput(
                f"{self.label}: not finished: it is still running, or was killed",
                f"`lab run --resume {self.label}` goes on with it; with --unfinished what it has is {use}",
            )

    def text(self, key: str) -> str:
        """A text of run.json. Raises BadInput if it is missing."""
        value = self.run.get(key)
        if not isinstance(value, str):
            raise BadInput(f"{self.path / 'run.json'}: {key}: missing")
        return value

    @property
    def left_out(self) -> dict[str, str]:
        """The cases that the hosts cannot do, by ``case_id``, and why."""
        return dict(self.run.get("left_out", {}))

    @property
    def ordering(self) -> Ordering:
        """How its blocks are ordered. Runs without the key are older than the mirrored order."""
        return Ordering(self.run.get("ordering", Ordering.INDEPENDENT))

    @property
    def load(self) -> dict[int, dict[str, float]]:
        """The cores that others than the lab used, by block and host, if observed."""
        return load_by_block(self.run)

    def note_load(self, block: int, load: Mapping[str, float]) -> None:
        """Put the load of a block into run.json."""
        self.update(load=as_entries({**self.load, block: load}))

    @property
    def has_transfers(self) -> bool:
        """Whether it holds a trial that is no ceiling. A file that cannot be read counts: loading it says why."""
        try:
            return any(map(_may_be_transfer, self.raw_lines()))
        except OSError:
            return True

    def update(self, **changes: object) -> None:
        """Add or replace keys of run.json, atomically."""
        changed = all_without_secrets({**self.run, **changes})
        durable.replace(self.path / "run.json", json.dumps(changed, indent=2).encode())
        self.run = changed

    def append(self, trial: Trial) -> None:
        """Add one trial durably. Raises ValueError, and writes nothing, if it could not be read back."""
        record = all_without_secrets(trial.to_json())
        if wrong := problem(record):
            raise ValueError(f"trial {trial.trial_id}: {wrong}")
        line = json.dumps(record, allow_nan=False)
        from_json(line)
        self._mend_tail()
        durable.append(self.trials_path, line.encode() + b"\n")

    def append_samples(self, trial_id: str, samples: Mapping[str, object]) -> None:
        """Add the samples of one trial, not durably: no result depends on them."""
        if samples:
            record = all_without_secrets({"trial_id": trial_id, **samples})
            durable.append_line(self.samples_path, json.dumps(record, allow_nan=False, separators=(",", ":")))

    def trials(self) -> list[Trial]:
        """Every trial, in order of appending. Raises BadInput, but not for a last line that was cut short."""
        return list(map(Trial.from_json, self.records()))

    def records(self) -> list[dict[str, Any]]:
        """The same as JSON objects, with the fields that an older schema lacks."""
        lacking, records = lacking_fields(self.run["schema"]), []
        try:
            for number, line in enumerate(self.raw_lines(), 1):
                if not line.endswith(b"\n") and not _is_json(line):
                    break
                record, wrong = read_line(line.removesuffix(b"\n"), lacking)
                if wrong:
                    raise self._bad_line(number, wrong)
                records.append(all_without_secrets(record) if may_hold_secrets(line.decode()) else record)
        except OSError as error:
            raise self._unreadable(error) from error
        self._check_unique([record["trial_id"] for record in records])
        return records

    def columns(self) -> tuple[Columns, Decoder]:
        """The trials as columns, and the decoder with their levels. Raises BadInput like :meth:`trials`."""
        from lab.results.columns import join  # NumPy is slow to import, and adding to a run needs none
        from lab.results.decoder import Decoder, read_columns

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

    def raw_lines(self) -> Iterator[bytes]:
        """The lines of trials.jsonl with their ends; none without the file. Raises OSError."""
        return untrusted.read_lines(self.trials_path) if os.path.lexists(self.trials_path) else iter(())

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
        """The number of bytes up to the last line end, and the line after it that was cut short."""
        if not os.path.lexists(self.trials_path):
            return 0, b""  # but a dangling link is an error
        try:
            with untrusted.open_file(self.trials_path) as file:
                start = end = os.fstat(file.fileno()).st_size
                tail = b""
                while start > 0 and b"\n" not in tail:
                    if len(tail) > untrusted.MOST_LINE_BYTES:
                        raise BadInput(f"{self.trials_path}: cannot be read: {untrusted.LONG_LINE}")
                    start = file.seek(max(0, end - 2 * len(tail) - _TAIL_BYTES))
                    tail = file.read(end - start) or b""
        except OSError as error:
            raise self._unreadable(error) from error
        whole = start + tail.rfind(b"\n") + 1
        return whole, tail[whole - start :]

    def _mend_tail(self) -> None:
        """Move a last line that was cut short to trials.torn; complete one that lacks only its line end."""
        whole, tail = self._whole_and_tail()
        if not tail:
            return
        if _is_json(tail):
            durable.append(self.trials_path, b"\n")
            return
        # In this order a crash between the two leaves two copies, never none
        durable.append(self.path / "trials.torn", tail + b"\n")
        durable.cut_off(self.trials_path, whole)


class TemporaryRun(RunFolder):
    """A run in a temporary folder that is removed with this object. ``fill`` makes the run folder at its path."""

    def __init__(self, kind: str, label: str, fill: Callable[[Path], object], name: str = "run"):
        folder = Path(tempfile.mkdtemp(prefix=f"lab-{kind}-"))  # of mode 0700
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._label = label
        fill(folder / name)
        super().__init__(folder / name)

    @property
    def label(self) -> str:
        """See :attr:`RunFolder.label`: where it came from, because its path is temporary."""
        return self._label


def load(path: Path) -> pd.DataFrame:
    """A run as one tidy frame: a row for each trial, a column for each field, and derived columns.

    Derived: each of OPTIONS, ``bytes_per_s``, ``MB_per_s`` (10^6), ``share_of_ceiling``, and ``client_cpu_s_per_GB``
    and ``server_cpu_s_per_GB`` (10^9); NaN if not measurable. ``observed`` is JSON text
    (:func:`lab.results.dataframe.observed` makes columns of it). ``attrs["run"]`` is run.json. Raises BadInput.
    """
    from lab.results import dataframe  # pandas is slow to import, and adding to a run needs none
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
        return line.endswith(b"\n")  # a last line that was cut short is no trial
    return not isinstance(record, dict) or record.get("protocol") not in CEILINGS


def _is_json(line: bytes) -> bool:
    return is_valid(lambda: from_json(line.decode()))
