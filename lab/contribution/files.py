"""The files of a contribution from elsewhere: unpacking, names, sizes and digests."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import read_file
from lab.contribution import record
from lab.contribution.flaw import Flaw
from lab.contribution.record import Contribution
from lab.results.packed_run import MOST_BYTES, OPTIONAL, unpack

LARGEST = {**MOST_BYTES, record.NAME: record.MOST_BYTES}
MOST_ENTRIES = 20  # a contribution has four files


@contextmanager
def opened(path: Path) -> Iterator[tuple[Path, list[Flaw]]]:
    """The folder of a contribution, unpacked into a temporary one from a zip file; and why it cannot be verified."""
    name = path.name or str(path)
    if path.is_dir():
        yield path, []
        return
    if not path.is_file():
        yield path, [Flaw(name, None, "neither a folder nor a zip file" if path.exists() else "is not there")]
        return
    with tempfile.TemporaryDirectory(prefix="lab-contribution-") as place:
        flaws: list[Flaw] = []
        try:
            unpack(path, Path(place) / "contribution", shown=name, largest=LARGEST)
        except BadInput as error:
            flaws = [Flaw(name, None, str(error).removeprefix(f"{name}: "))]
        yield Path(place) / "contribution", flaws


def check_entries(folder: Path) -> Iterator[Flaw]:
    """Entries that are no file of a contribution, are too large, or are missing. No file is opened."""
    shown = folder.name or str(folder)
    try:
        with os.scandir(folder) as entries:
            statuses: dict[str, os.stat_result] = {}
            for entry in entries:
                if len(statuses) == MOST_ENTRIES:
                    yield Flaw(shown, None, f"more than {MOST_ENTRIES} files: a contribution has {len(LARGEST)}")
                    return
                statuses[entry.name] = entry.stat(follow_symlinks=False)
    except OSError as error:
        yield Flaw(shown, None, f"cannot be read: {error.strerror}")
        return
    for name, status in sorted(statuses.items()):
        if problem := _problem_of_entry(name, status):
            yield Flaw(name, None, problem)
    for name in LARGEST:
        if name not in statuses and name not in OPTIONAL:
            yield Flaw(name, None, "missing")


def _problem_of_entry(name: str, status: os.stat_result) -> str:
    """Why an entry is no file of a contribution; empty if it may be one."""
    if name not in LARGEST:
        return "no file of a contribution"
    if stat.S_ISLNK(status.st_mode):
        return "a link, which is not followed"
    if not stat.S_ISREG(status.st_mode):
        return "no ordinary file"
    return f"{status.st_size:,} bytes: at most {LARGEST[name]:,}" if status.st_size > LARGEST[name] else ""


def read_record(folder: Path) -> tuple[Contribution | None, list[Flaw]]:
    """The content of `contribution.json`, or None and why it cannot be read."""
    try:
        contribution = record.read(read_file(folder / record.NAME, record.MOST_BYTES))
    except (OSError, ValueError) as error:
        return None, [Flaw(record.NAME, None, f"cannot be read: {reason_of(error)}")]
    if contribution.schema != record.SCHEMA:
        return None, [Flaw(record.NAME, None, f"schema {contribution.schema}: this lab knows {record.SCHEMA}")]
    return contribution, []


def check_digests(folder: Path, contribution: Contribution) -> Iterator[Flaw]:
    """Files whose length or SHA-256 differs from `contribution.json`."""
    present = {name for name in LARGEST if name != record.NAME and os.path.lexists(folder / name)}
    for name in sorted(present ^ contribution.files.keys()):
        yield Flaw(name, None, f"{'not named in' if name in present else 'missing, and named in'} {record.NAME}")
    for name in sorted(present & contribution.files.keys()):
        try:
            actual = record.digest_file(folder / name)
        except OSError as error:
            yield Flaw(name, None, f"cannot be read: {error.strerror}")
            continue
        stated = contribution.files[name]
        if actual.bytes != stated.bytes:
            yield Flaw(name, None, f"has {actual.bytes:,} bytes, and {stated.bytes:,} by {record.NAME}")
        elif actual.sha256 != stated.sha256:
            yield Flaw(name, None, f"its SHA-256 is {actual.sha256[:16]}…, and {stated.sha256[:16]}… by {record.NAME}")
