"""Runs that come with the lab, as zip files (:mod:`lab.results.packed_run`): real ones of a local lab, as written."""

from pathlib import Path

from lab.base import shipped
from lab.base.untrusted import one_line
from lab.results.packed_run import unpack
from lab.results.run_folder import TemporaryRun


class Example(TemporaryRun):
    """A run that comes with the lab."""

    def __init__(self, name: str):
        self.name, archive = name, shipped.examples()[name]
        super().__init__("example", name, lambda folder: unpack(archive, folder, "install the lab anew"), name)

    @property
    def origin(self) -> str:
        """One line that says that it is an example, and of which machine."""
        client = self.run.get("hosts", {}).get("client", {})
        machine = f"{client.get('cores')} cores of {client.get('cpu')}, {client.get('kernel')}"
        return one_line(f"{self.name}: {self.run.get('title')}; {machine}: says nothing of your hosts")


def find(name: str | Path | None) -> Example | None:
    """The example of this name; None for any other name, such as ``./example``."""
    return Example(str(name)) if str(name) in shipped.examples() else None
