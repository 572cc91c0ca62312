"""Open a run by whatever a person calls it: a path, a short name, an address, a zip file, an example."""

from pathlib import Path

from lab.results import examples
from lab.results.run_folder import RunFolder, TemporaryRun
from lab.results.run_names import find_run, is_address, newest, nothing_measured, paths_of_runs, sweep_of

RESULTS = Path("results")


class Unpacked(TemporaryRun):
    """A run in a zip file of this machine. Raises BadInput."""

    def __init__(self, archive: Path):
        from lab.results.packed_run import unpack

        remedy = "give a zip file of what `lab export` writes"
        super().__init__("unpacked", str(archive), lambda folder: unpack(archive, folder, remedy))


def open_run(name: str | Path | None = None, results: Path = RESULTS) -> RunFolder:
    """The run of this name, or the newest that measured anything. Raises BadInput if there is none.

    ``name`` is the path of a run folder or a packed run, an http or https address of one, or an example's name. It may
    also be what :func:`lab.results.run_names.find_run` takes for the runs in ``results``. The name of a sweep there
    comes before an example's.
    """
    if not name:
        return newest(results)
    folder = _open_named(str(name), results)
    if not folder.has_transfers:
        raise nothing_measured(folder)
    return folder


def _open_named(name: str, results: Path) -> RunFolder:
    if is_address(name):
        from lab.results.fetched_run import Fetched  # SSL is slow to import, and most runs are here

        return Fetched(name)
    if name.endswith(".zip") and Path(name).is_file():
        return Unpacked(Path(name))
    if name not in map(sweep_of, paths_of_runs(results)) and (example := examples.find(name)):
        return example
    return RunFolder(find_run(name, results))
