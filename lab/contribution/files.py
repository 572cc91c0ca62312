"""The files of a contribution from elsewhere: which may be there, how large, and whether they are what it says."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from lab.base.os_errors import reason_of
from lab.base.untrusted import read_file
from lab.contribution import record
from lab.contribution.finding import Finding, findings_at
from lab.contribution.record import Contribution
from lab.results.packed_run import MOST_BYTES, OPTIONAL

LARGEST = {**MOST_BYTES, record.NAME: record.MOST_BYTES}
MOST_ENTRIES = 20  # looked at in a folder: it has four files


def shown(folder: Path) -> str:
    """What a contribution is called in a finding about itself."""
    return folder.name or str(folder)


def check_entries(folder: Path) -> Iterator[Finding]:
    """Whatever is no ordinary file of a contribution, is too large, or is missing. Nothing is opened."""
    try:
        with os.scandir(folder) as entries:
            statuses: dict[str, os.stat_result] = {}
            for entry in entries:
                if len(statuses) == MOST_ENTRIES:
                    yield Finding(
                        shown(folder), None, f"more than {MOST_ENTRIES} files: a contribution has {len(LARGEST)}"
                    )
                    return
                statuses[entry.name] = entry.stat(follow_symlinks=False)
    except OSError as error:
        yield Finding(shown(folder), None, f"cannot be read: {error.strerror}")
        return
    for name, status in sorted(statuses.items()):
        yield from findings_at(name, None, [_problem_of_entry(name, status)])
    for name in LARGEST:
        if name not in statuses and name not in OPTIONAL:
            yield Finding(name, None, "missing")


def _problem_of_entry(name: str, status: os.stat_result) -> str:
    """Why it is no file of a contribution; empty where it may be one."""
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
        contribution = record.read(read_file(folder / record.NAME, record.MOST_BYTES))
    except (OSError, ValueError) as error:
        return None, [Finding(record.NAME, None, f"cannot be read: {reason_of(error)}")]
    if contribution.schema != record.SCHEMA:
        return None, [Finding(record.NAME, None, f"schema {contribution.schema}: this lab knows {record.SCHEMA}")]
    return contribution, []


def check_digests(folder: Path, contribution: Contribution) -> Iterator[Finding]:
    """Every file whose length or SHA-256 is not what `contribution.json` says."""
    here = {name for name in LARGEST if name != record.NAME and os.path.lexists(folder / name)}
    for name in sorted(here ^ contribution.files.keys()):
        yield Finding(name, None, f"{'not named in' if name in here else 'missing, and named in'} {record.NAME}")
    for name in sorted(here & contribution.files.keys()):
        try:
            actual = record.digest_file(folder / name)
        except OSError as error:
            yield Finding(name, None, f"cannot be read: {error.strerror}")
            continue
        stated = contribution.files[name]
        if actual.bytes != stated.bytes:
            yield Finding(name, None, f"has {actual.bytes:,} bytes, and {stated.bytes:,} by {record.NAME}")
        elif actual.sha256 != stated.sha256:
            yield Finding(
                name, None, f"its SHA-256 is {actual.sha256[:16]}…, and {stated.sha256[:16]}… by {record.NAME}"
            )
