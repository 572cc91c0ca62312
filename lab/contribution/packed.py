"""A contribution as a folder, or in a zip file, which is unpacked file by file, each up to its size."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base.errors import BadInput
from lab.contribution.files import LARGEST, shown
from lab.contribution.finding import Finding
from lab.results.packed_run import unpack


@contextmanager
def opened(path: Path) -> Iterator[tuple[Path, list[Finding]]]:
    """The folder of a contribution, and why it cannot be looked at; of a zip file one that goes afterwards.

    Only files of a contribution are unpacked, by their names: what else a zip file holds counts for nothing.
    """
    if path.is_dir():
        yield path, []
        return
    if not path.is_file():
        yield path, [Finding(shown(path), None, "neither a folder nor a zip file" if path.exists() else "is not there")]
        return
    with tempfile.TemporaryDirectory(prefix="lab-contribution-") as place:
        findings: list[Finding] = []
        try:
            unpack(path, Path(place) / "contribution", shown=path.name, largest=LARGEST)
        except BadInput as error:
            findings = [Finding(path.name, None, str(error).removeprefix(f"{path.name}: "))]
        yield Path(place) / "contribution", findings
