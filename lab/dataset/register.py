"""The register of a dataset's runs, cases and files; a file that it does not name is not part of the dataset."""

import hashlib
import os
import re
import string
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar, get_args

import msgspec

from lab.base import durable, untrusted
from lab.base.errors import BadInput
from lab.base.units import LARGEST
from lab.base.untrusted import listing, one_line
from lab.design.factors import ABSENT, DEFAULT, Level, owner_of
from lab.results.trial import MOST_OPTIONS, is_level
from lab.stats.factors import FACTORS

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=LARGEST - 1)]
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=2000)]
Levels: TypeAlias = Mapping[str, Level]
EntryT = TypeVar("EntryT")
AGAIN = "make the dataset anew: `lab dataset add RUN… --dataset NEW`, of the runs that it was made of"
Table: TypeAlias = Literal["trials", "observed", "limits"]
TABLES: tuple[Table, ...] = get_args(Table)
_PLAIN = frozenset(string.ascii_letters + string.digits + "-_.")
_LONGEST = 100
LONGEST_ID = 400  # characters of the id of a run (may be its folder's name) or of a trial, which each row has
FOLDER = re.compile(r"sweep=[A-Za-z0-9_.%-]*")
FILE = re.compile(r"(?:run=[A-Za-z0-9_.%-]*|joined=[0-9]+-[0-9a-f]{12})\.parquet")
PART = re.compile(rf"\.{FILE.pattern}\.[0-9a-f]{{12}}")  # a file that is being written


class StoredRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was added.

    ``sha256`` is the hash of its trials.jsonl, ``options`` are the options that its sweep names, and ``where`` stands
    beside its numbers (:func:`lab.stats.provenance`). ``saved_as`` names its history, if any. ``is_judged``: its cases'
    limits are in the dataset.
    """

    run_id: Annotated[str, msgspec.Meta(max_length=LONGEST_ID)]
    sweep: Text
    sha256: Text
    trials: Count
    blocks: Count
    options: Annotated[tuple[Text, ...], msgspec.Meta(max_length=MOST_OPTIONS)] = ()
    where: Text = ""
    started_at: Text = ""
    saved_as: Text = ""
    is_judged: bool = False


class StoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of Parquet, by its path in the dataset; the blocks of a sweep are numbered over all its runs."""

    table: Table
    sweep: Text
    path: Text
    rows: Count
    size_bytes: Count
    first_block: Count
    blocks: Count


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line: a run with its files, or one of these after files were joined."""

    run: StoredRun | None = None
    files: tuple[StoredFile, ...] = ()


class _Case(msgspec.Struct, frozen=True):
    levels: dict[Text, Annotated[str, msgspec.Meta(max_length=2000)] | Count]


def group_files(
    files: Iterable[StoredFile], most_rows: int, most_files: int = sys.maxsize
) -> Iterator[list[StoredFile]]:
    """Groups of consecutive files with so many rows together; a larger file is a group of its own."""
    group: list[StoredFile] = []
    rows = 0
    for file in files:
        if group and (rows + file.rows > most_rows or len(group) == most_files):
            yield group
            group, rows = [], 0
        group.append(file)
        rows += file.rows
    if group:
        yield group


def identify(levels: Levels) -> dict[str, Level]:
    """The levels that identify a case: without options at their default, because a run may not name these."""
    return {name: level for name, level in levels.items() if not (owner_of(name) and level in (DEFAULT, ABSENT))}


class Register:
    """Both files of a register, read whole. Raises BadInput if one cannot be read, or no lab wrote it."""

    def __init__(self, folder: Path):
        self._path, self._cases_path = folder / "register.jsonl", folder / "cases.jsonl"
        entries = _read(self._path, msgspec.json.Decoder(Entry), _problem_of_entry)
        self.runs = {entry.run.run_id: entry.run for entry in entries if entry.run}
        self.files = [file for entry in entries for file in entry.files]
        self.cases = [case.levels for case in _read(self._cases_path, msgspec.json.Decoder(_Case), _problem_of_case)]
        self.blocks: Counter[str] = Counter()
        """The number of blocks of each sweep."""
        for run in self.runs.values():
            self.blocks[run.sweep] += run.blocks
        self._numbers = {_key(levels): number for number, levels in enumerate(self.cases)}
        self._check_sums()

    def _check_sums(self) -> None:
        """Raise BadInput if a file is named twice, or the files of a sweep do not hold the trials of its runs."""
        paths = Counter(file.path.casefold() for file in self.files)
        if doubled := next((file.path for file in self.files if paths[file.path.casefold()] > 1), ""):
            raise BadInput(f"{self._path}: names {one_line(doubled)} twice", AGAIN)
        trials: Counter[str] = Counter()
        for run in self.runs.values():
            trials[run.sweep] += run.trials
        for file in self.files:
            trials[file.sweep] -= file.rows if file.table == "trials" else 0
            if file.first_block + file.blocks > self.blocks[file.sweep]:
                raise BadInput(f"{self._path}: {one_line(file.path)}: has blocks that no run has", AGAIN)
        if differing := next((sweep for sweep, count in trials.items() if count), None):
            place = f"{self._path}: sweep {one_line(differing, 80)}"
            raise BadInput(f"{place}: its files have other trials than its runs", AGAIN)

    def of_sweep(self, sweep: str, table: Table = "trials") -> list[StoredFile]:
        """The files of a sweep and table."""
        return [file for file in self.files if file.sweep == sweep and file.table == table]

    def number_cases(self, cases: Iterable[Levels]) -> list[int]:
        """The number of each case in the dataset; new cases are durably numbered."""
        numbers: list[int] = []
        new: list[dict[str, Level]] = []
        for levels in map(identify, cases):
            numbers.append(self._numbers.setdefault(_key(levels), len(self.cases) + len(new)))
            if numbers[-1] == len(self.cases) + len(new):
                new.append(levels)
        if new:
            _append(self._cases_path, [_Case(levels) for levels in new])
            self.cases += new
        return numbers

    def check(self, run: StoredRun, label: str) -> None:
        """Raise BadInput for a run that the register could not read again."""
        try:
            problem = _problem_of_entry(msgspec.json.decode(msgspec.json.encode(Entry(run)), type=Entry))
        except ValueError as error:  # msgspec's errors are ValueErrors
            problem = str(error)
        if problem:
            raise BadInput(f"{label}: no run that a dataset can hold: {problem}")

    def enter(self, entry: Entry) -> None:
        """Durably add a run and its files to the dataset."""
        _append(self._path, [entry])
        if entry.run:
            self.runs[entry.run.run_id] = entry.run
            self.blocks[entry.run.sweep] += entry.run.blocks
        self.files += entry.files

    def replace_files(self, files: Sequence[StoredFile]) -> None:
        """Replace all files by others, in one step."""
        entries = [*(Entry(files=(file,)) for file in files), *(Entry(run) for run in self.runs.values())]
        durable.replace(self._path, b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))
        self.files = list(files)


def _key(levels: Levels) -> tuple[tuple[str, Level], ...]:
    return tuple(sorted(levels.items()))


def _append(path: Path, entries: Sequence[msgspec.Struct]) -> None:
    """Add lines durably, after cutting off half a line that a crash left."""
    if os.path.lexists(path):
        with untrusted.open_file(path) as file:
            end = file.seek(0, os.SEEK_END)
            start = max(0, end - untrusted.MOST_LINE_BYTES)  # no line of the lab is longer
            whole = start + os.pread(file.fileno(), end - start, start).rfind(b"\n") + 1
        if whole < end:
            durable.cut_off(path, whole)
    durable.append(path, b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))


def _read(path: Path, decoder: msgspec.json.Decoder[EntryT], problem_of: Callable[[EntryT], str]) -> list[EntryT]:
    """The whole lines of a file; empty if there is no file."""
    entries: list[EntryT] = []
    try:
        lines = untrusted.read_lines(path) if os.path.lexists(path) else iter(())
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n"):
                try:
                    entries.append(decoder.decode(line))
                except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
                    raise BadInput(f"{path}: line {number}: not of a dataset: {error}", AGAIN) from error
                if problem := problem_of(entries[-1]):
                    raise BadInput(f"{path}: line {number}: {problem}", AGAIN)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    return entries


def _problem_of_entry(entry: Entry) -> str:
    """Why no lab wrote this entry; empty if one may have."""
    for file in entry.files:
        folder, _, name = file.path.rpartition("/")
        if folder != f"{file.table}/{folder_of(file.sweep)}" or not FILE.fullmatch(name):
            return f"path {one_line(file.path, 100)}: no name that the lab gives to a file of this table and sweep"
        if file.table == "trials" and file.blocks > file.rows:
            return f"{file.path}: {file.blocks:,} blocks of {file.rows:,} trials"
    if entry.run and (unknown := [name for name in entry.run.options if not owner_of(name)]):
        return f"options: {listing(unknown)}: none that a mount, a tool or a store has"
    if entry.run and entry.run.blocks > entry.run.trials:
        return f"run {one_line(entry.run.run_id, 80)}: {entry.run.blocks:,} blocks of {entry.run.trials:,} trials"
    return ""


def _problem_of_case(case: _Case) -> str:
    """Why no trial has such a case; empty if one may have."""
    levels = case.levels
    if lacking := [name for name in FACTORS if name not in levels]:
        return f"lacks {', '.join(lacking)}"
    if unknown := [name for name in levels if name not in FACTORS and not owner_of(name)]:
        return f"unknown: {listing(unknown)}"
    strange = next((name for name, level in levels.items() if not is_level(name, level)), None)
    return "" if strange is None else f"{one_line(strange, 80)} cannot be {levels[strange]!r:.60}"


def name_of(text: str) -> str:
    """A text as a part of a path: other characters as ``%2F``; a long text is cut, with its hash."""
    quoted = "".join(sign if sign in _PLAIN else "".join(f"%{byte:02X}" for byte in sign.encode()) for sign in text)
    if len(quoted) <= _LONGEST:
        return quoted
    return f"{quoted[: _LONGEST // 2]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def folder_of(sweep: str) -> str:
    """The name of a sweep's folder in each of TABLES."""
    return f"sweep={name_of(sweep)}"
