"""Which run a person means: one by its path, or one of the results folder by a short name.

Names alone are looked at, no content: a run folder is data that may come from anywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lab.base import shipped
from lab.base.did_you_mean import nearest
from lab.base.errors import BadInput
from lab.base.untrusted import listing, one_line
from lab.results.newest_run import paths_of_runs

RUN_FILES = ("run.json", "journal.jsonl")  # either makes a folder that of a run
SWEEP_OF = re.compile(r"[0-9]{8}T[0-9]{6}Z-(.+)")  # the name of a run folder: when it began, and its sweep
FROM_NEWEST = re.compile(r"-[0-9]{1,9}")
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_address(name: str) -> bool:
    """Whether a run is named by an address, and not by a path."""
    return ADDRESS.match(name) is not None


def find_run(name: str, results: Path) -> Path:
    """The run folder that ``name`` stands for. Raises BadInput where it stands for none, or for several.

    It is a path, or the name of a folder in ``results``, or that of a sweep (its newest run), or what the name of one
    folder alone begins with; ``-1`` is the newest run, ``-2`` the one before.
    """
    path = Path(name)
    if os.sep in name or any(os.path.lexists(path / file) for file in RUN_FILES):
        return path
    runs = paths_of_runs(results)
    if FROM_NEWEST.fullmatch(name):
        return _from_newest(-int(name), name, runs, results)
    called_so = [run for run in runs if run.name == name] or [run for run in runs if sweep_of(run) == name]
    beginning_so = [run for run in runs if name and run.name.startswith(name)]
    if called_so or len(beginning_so) == 1:
        return (called_so or beginning_so)[0]
    if beginning_so:
        some = listing((run.name for run in beginning_so), 3)
        raise BadInput(
            f"{name}: the names of {len(beginning_so)} runs of {results} begin so: {some}", "give more of the name"
        )
    names = [*dict.fromkeys(map(sweep_of, runs)), *(run.name for run in runs), *shipped.examples()]
    match = nearest(name, names)
    raise BadInput(
        f"{one_line(name, 200)}: not a run folder, and no run of {results} is called so",
        f"did you mean {one_line(match)!r}?" if match else "`lab list` names the runs",
    )


def sweep_of(run: Path) -> str:
    """The name of a run's sweep, as its folder is called: all of that where no lab called it so."""
    match = SWEEP_OF.fullmatch(run.name)
    return match[1] if match else run.name


def _from_newest(place: int, name: str, runs: Sequence[Path], results: Path) -> Path:
    """The run at this place, the newest being the first. Raises BadInput."""
    if not 1 <= place <= len(runs):
        count = f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}"
        raise BadInput(f"{name}: {results} holds {count}", "`lab list` names the runs; -1 is the newest")
    return runs[place - 1]
