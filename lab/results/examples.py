"""Runs that come with the lab, for who has none yet: real ones, of a local lab, as they were written.

Each is a zip file (:mod:`lab.results.packed_run`).
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from lab.base import shipped
from lab.base.untrusted import one_line
from lab.results.packed_run import unpack
from lab.results.run_folder import RunFolder


class Example(RunFolder):
    """A run that comes with the lab, in a temporary folder that goes with this object."""

    def __init__(self, name: str):
        folder = Path(tempfile.mkdtemp(prefix="lab-example-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.name = name
        unpack(shipped.examples()[name], folder / name, "install the lab anew")
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
    """The run of this name that comes with the lab; None for any other name, such as ``./example``."""
    return Example(str(name)) if str(name) in shipped.examples() else None
