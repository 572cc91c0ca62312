"""Find the run that a person means: by a path, or by a short name in the results folder.

Short names are matched against names of folders, which begin with the UTC time of the run's start. Content does not
count: a run folder may come from anywhere.
"""

import os
import re
from pathlib import Path

from lab.base import shipped
from lab.base.did_you_mean import nearest
from lab.base.errors import BadInput
from lab.base.untrusted import first_line, listing, one_line
from lab.results.run_folder import RunFolder

FIDELITY = "fidelity.json"  # what `lab fidelity` found, in a run folder of its own
RUN_FILES = ("run.json", "journal.jsonl")  # a folder with either is a run's
SWEEP_OF = re.compile(r"[0-9]{8}T[0-9]{6}Z-(.+)")  # the name of a run folder: its start, and its sweep
FROM_NEWEST = re.compile(r"-[0-9]{1,9}")
UNFINISHED = "it is still running, or was killed"
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def paths_of_runs(results: Path) -> list[Path]:
    """Every run folder, the newest first, without links."""
    paths = (file.parent for file in Path(results).glob("*/run.json") if not file.parent.is_symlink())
    return sorted(paths, reverse=True)


def newest(results: Path) -> RunFolder:
    """The newest run that holds a transfer. Raises BadInput if there is none."""
    paths = paths_of_runs(results)
    if not paths:
        problem = f"{results}: holds no run; `lab run SWEEP` makes one"
        raise BadInput(problem, "`lab show example` shows one that comes with the lab")
    if (run := next((run for run in map(RunFolder, paths) if run.has_transfers), None)) is None:
        raise nothing_measured(RunFolder(paths[0]))
    return run


def nothing_measured(folder: RunFolder) -> BadInput:
    """The error for a run that ended before its first transfer, or that times none."""
    if (folder.path / FIDELITY).exists():
        page = folder.report_path / "fidelity.html"
        return BadInput(f"{folder.path}: is of `lab fidelity`, which times nothing", f"{page} has what it found")
    if folder.label != str(folder.path):  # a temporary copy
        return BadInput(f"{folder.label}: holds no trial", "ask whoever handed it over for the whole run")
    why = first_line(str(folder.run.get("ended") or UNFINISHED), 300)
    return BadInput(
        f"{folder.path}: holds no trial: {why}",
        f"`lab run --resume {folder.path}` goes on with it, where it did not fail for a reason that is still there",
    )


def is_address(name: str) -> bool:
    """Whether the name of a run is an address, and not a path."""
    return ADDRESS.match(name) is not None


def find_run(name: str, results: Path) -> Path:
    """The run folder of this name. Raises BadInput if there is none, or more than one.

    ``name`` is a path, a folder in ``results``, a sweep (its newest run), or the beginning of exactly one folder's
    name; ``-1`` is the newest run, ``-2`` the one before.
    """
    path = Path(name)
    if os.sep in name or any(os.path.lexists(path / file) for file in RUN_FILES):
        return path
    runs = paths_of_runs(results)
    if FROM_NEWEST.fullmatch(name):
        if not 1 <= -int(name) <= len(runs):
            count = f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}"
            raise BadInput(f"{name}: {results} holds {count}", "`lab list` names the runs; -1 is the newest")
        return runs[-int(name) - 1]
    exact = [run for run in runs if run.name == name] or [run for run in runs if sweep_of(run) == name]
    beginning = [run for run in runs if name and run.name.startswith(name)]
    if exact or len(beginning) == 1:
        return (exact or beginning)[0]
    if beginning:
        examples = listing((run.name for run in beginning), 3)
        raise BadInput(
            f"{name}: the names of {len(beginning)} runs of {results} begin so: {examples}", "give more of the name"
        )
    names = [*dict.fromkeys(map(sweep_of, runs)), *(run.name for run in runs), *shipped.examples()]
    match = nearest(name, names)
    problem = f"{one_line(name, 200)}: not a run folder, and no run of {results} is called so"
    raise BadInput(problem, f"did you mean {one_line(match)!r}?" if match else "`lab list` names the runs")


def sweep_of(run: Path) -> str:
    """The sweep in the name of a run folder; the whole name if no lab gave it."""
    match = SWEEP_OF.fullmatch(run.name)
    return match[1] if match else run.name
