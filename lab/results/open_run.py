"""A run by whatever a person calls it: a path, a short name, an address, a zip file, an example."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from lab.results import examples
from lab.results.newest_run import newest, nothing_measured, paths_of_runs
from lab.results.run_folder import RunFolder
from lab.results.run_names import find_run, is_address, sweep_of

RESULTS = Path("results")


class Unpacked(RunFolder):
    """A run in a zip file of this machine, in a temporary folder that goes with this object. Raises BadInput."""

    def __init__(self, archive: Path):
        from lab.results.packed_run import unpack

        folder = Path(tempfile.mkdtemp(prefix="lab-unpacked-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._label = str(archive)
        unpack(archive, folder / "run", "give a zip file of what `lab export` writes")
        super().__init__(folder / "run")

    @property
    def label(self) -> str:
        """See :attr:`RunFolder.label`: the zip file."""
        return self._label


def open_run(name: str | Path | None = None, results: Path = RESULTS) -> RunFolder:
    """The run that is called so, or the newest that measured anything. Raises BadInput where there is none.

    ``name`` is a path of a run folder or of a zip file of one, an http or https address of either, the name of a run
    that comes with the lab, or whatever :func:`lab.results.run_names.find_run` takes, of the runs in ``results``. The
    name of a sweep of the runs there comes before that of an example.
    """
    if not name:
        return newest(results)
    folder = _named(str(name), results)
    if not folder.has_transfers:
        raise nothing_measured(folder)
    return folder


def _named(name: str, results: Path) -> RunFolder:
    if is_address(name):
        from lab.results.fetched_run import Fetched  # SSL is slow to import, and most runs are here

        return Fetched(name)
    if name.endswith(".zip") and Path(name).is_file():
        return Unpacked(Path(name))
    if name not in map(sweep_of, paths_of_runs(results)) and (example := examples.find(name)):
        return example
    return RunFolder(find_run(name, results))
