"""The files of a contribution from elsewhere: which may be there, how large, and whether they are what it says."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from lab.base.untrusted import read_file
from lab.contribution import record
from lab.contribution.finding import Finding, at
from lab.contribution.record import Contribution
from lab.results.packed_run import MOST_BYTES, OPTIONAL

LARGEST = {**MOST_BYTES, record.NAME: record.MOST_BYTES}
MOST_ENTRIES = 20  # looked at in a folder: it has four files


def check_entries(folder: Path) -> Iterator[Finding]:
    """Whatever is no ordinary file of a contribution, is too large, or is missing. Nothing is opened."""
    try:
        with os.scandir(folder) as entries:
            found: dict[str, os.stat_result] = {}
            for entry in entries:
                if len(found) == MOST_ENTRIES:
                    yield Finding(".", None, f"more than {MOST_ENTRIES} files: a contribution has {len(LARGEST)}")
                    return
                found[entry.name] = entry.stat(follow_symlinks=False)
    except OSError as error:
        yield Finding(".", None, f"cannot be read: {error.strerror}")
        return
    for name, status in sorted(found.items()):
        yield from at(name, None, [_wrong_entry(name, status)])
    for name in LARGEST:
        if name not in found and name not in OPTIONAL:
            yield Finding(name, None, "missing")


def _wrong_entry(name: str, status: os.stat_result) -> str:
    if name not in LARGEST:
        return "no file of a contribution"
    if stat.S_ISLNK(status.st_mode):
        return "a link, which is not followed"
    if not stat.S_ISREG(status.st_mode):
        return "no ordinary file"
    return f"{status.st_size:,} bytes: at most {LARGEST[name]:,}" if status.st_size > LARGEST[name] else ""


def read_record(folder: Path) -> tuple[Contribution | None, list[Finding]]:
    """What `contribution.json` says; None where it cannot be read, and why."""
    try:
        read = record.read(read_file(folder / record.NAME, record.MOST_BYTES))
    except (OSError, ValueError) as error:
        return None, [Finding(record.NAME, None, f"cannot be read: {error}")]
    if read.schema != record.SCHEMA:
        return None, [Finding(record.NAME, None, f"schema {read.schema}: this lab knows {record.SCHEMA}")]
    return read, []


def check_digests(folder: Path, contribution: Contribution) -> Iterator[Finding]:
    """Every file whose length or SHA-256 is not what `contribution.json` says."""
    here = {name for name in LARGEST if name != record.NAME and os.path.lexists(folder / name)}
    for name in sorted(here ^ contribution.files.keys()):
        yield Finding(name, None, f"{'not named in' if name in here else 'missing, and named in'} {record.NAME}")
    for name in sorted(here & contribution.files.keys()):
        try:
            found = record.digest_file(folder / name)
        except OSError as error:
            yield Finding(name, None, f"cannot be read: {error.strerror}")
            continue
        said = contribution.files[name]
        if found.bytes != said.bytes:
            yield Finding(name, None, f"has {found.bytes:,} bytes, and {said.bytes:,} by {record.NAME}")
        elif found.sha256 != said.sha256:
            yield Finding(name, None, f"its SHA-256 is {found.sha256[:16]}…, and {said.sha256[:16]}… by {record.NAME}")
