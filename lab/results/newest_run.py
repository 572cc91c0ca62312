"""The run folders of a folder of results, by their names: these begin with the UTC time of the run's start."""

from __future__ import annotations

from pathlib import Path

from lab.base.errors import BadInput
from lab.base.untrusted import first_line
from lab.results.run_folder import RunFolder

FIDELITY = "fidelity.json"  # what `lab fidelity` found, in a run folder of its own


def paths_of_runs(results: Path) -> list[Path]:
    """Every run folder, the newest first; never one that a link leads to."""
    paths = (file.parent for file in Path(results).glob("*/run.json") if not file.parent.is_symlink())
    return sorted(paths, reverse=True)


def newest(results: Path) -> RunFolder:
    """The last run that holds a transfer. Raises :class:`BadInput` where there is no run, or none that holds any."""
    paths = paths_of_runs(results)
    if not paths:
        raise BadInput(
            f"{results}: holds no run; `lab run SWEEP` makes one",
            "`lab show example` shows one that comes with the lab",
        )
    if (run := next((run for run in map(RunFolder, paths) if run.has_transfers), None)) is None:
        raise nothing_measured(RunFolder(paths[0]))
    return run


def nothing_measured(folder: RunFolder) -> BadInput:
    """What is said of a run that ended before its first transfer, or times none."""
    if (folder.path / FIDELITY).exists():
        page = folder.report_path / "fidelity.html"
        return BadInput(f"{folder.path}: is of `lab fidelity`, which times nothing", f"{page} has what it found")
    if folder.label != str(folder.path):  # a copy of one from elsewhere, which goes
        return BadInput(f"{folder.label}: holds no trial", "ask whoever handed it over for the whole run")
    why = first_line(str(folder.run.get("ended") or "it is still running, or was killed"), 300)
    return BadInput(
        f"{folder.path}: holds no trial: {why}",
        f"`lab run --resume {folder.path}` goes on with it, where it did not fail for a reason that is still there",
    )
