"""Runs that come with the lab, for who has none yet: real ones, of a local lab, as they were written.

Each is a zip file. Only the files of a run that are read are taken from it, by their names, and up to a size: what else
it may hold, and what it says of paths and sizes, counts for nothing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
import zipfile
import zlib
from pathlib import Path

from lab.base import shipped
from lab.base.errors import BadInput
from lab.base.untrusted import MOST_FILE_BYTES, one_line
from lab.results.run_folder import RunFolder

FILES = ("run.json", "trials.jsonl")


class Example(RunFolder):
    """A run that comes with the lab, in a temporary folder that goes with this object."""

    def __init__(self, name: str):
        folder = Path(tempfile.mkdtemp(prefix="lab-example-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.name = name
        unpack(shipped.examples()[name], folder / name)
        super().__init__(folder / name)

    @property
    def label(self) -> str:
        """See :attr:`RunFolder.label`: its folder is gone when somebody could type its path."""
        return self.name

    @property
    def origin(self) -> str:
        """One line: that it is an example, and of what machine."""
        client = self.run.get("hosts", {}).get("client", {})
        machine = f"{client.get('cores')} cores of {client.get('cpu')}, {client.get('kernel')}"
        return one_line(f"{self.name}: {self.run.get('title')}; {machine}: says nothing of your hosts")


def find(name: str | Path | None) -> Example | None:
    """The run of this name that comes with the lab; None for any other name, and where such a path is there."""
    if str(name) not in shipped.examples() or os.path.lexists(str(name)):
        return None
    return Example(str(name))


def unpack(archive: Path, folder: Path) -> None:
    """Make a run folder of a packed run. Raises BadInput for a file that holds none."""
    folder.mkdir()
    try:
        with zipfile.ZipFile(archive) as packed:
            for name in FILES:
                with packed.open(name) as file:
                    content = file.read(MOST_FILE_BYTES + 1)
                if len(content) > MOST_FILE_BYTES:
                    raise ValueError(f"{name} is larger than {MOST_FILE_BYTES >> 10} KiB")
                (folder / name).write_bytes(content)
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadInput(f"{archive}: not a packed run: {error}", "install the lab anew") from error
