"""The history of a share: the runs in a results folder that `lab measure --save NAME` saved under one name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.untrusted import listing
from lab.results.json_object import RunJson
from lab.results.run_folder import RunFolder, Trial
from lab.results.run_names import paths_of_runs
from lab.results.trial import CEILINGS, read_time

MOST_RUNS = 365  # of one name that are read: a year of nights


@dataclass(frozen=True)
class SavedRun:
    """One run of a history: its folder, its run.json, its start, and its transfers of any status."""

    path: Path
    run: RunJson
    begun: datetime
    trials: Sequence[Trial]


@dataclass(frozen=True)
class SavedRuns:
    """The newest runs of one name that have transfers, the oldest first; and the number of ``older`` ones.

    ``unreadable`` says why others could not be read; of runs with another name only run.json is read.
    """

    name: str
    runs: Sequence[SavedRun]
    older: int
    unreadable: Sequence[str]


def read_saved_runs(results: Path, name: str) -> SavedRuns:
    """The runs saved as ``name`` that can be read. Raises BadInput if there is none."""
    runs: list[SavedRun] = []
    names: list[str] = []
    unreadable: list[str] = []
    for path in paths_of_runs(results):
        try:
            folder = RunFolder(path)
            names += [saved_as] if isinstance(saved_as := folder.run.get("saved_as"), str) else []
            if folder.run.get("saved_as") == name and names.count(name) <= MOST_RUNS:
                runs.extend(_read_transfers(folder))
        except BadInput as error:
            unreadable.append(str(error))
    if name not in names:
        others = f"; the names there are {listing(sorted(set(names)))}" if names else ""
        unread = f"; {len(unreadable)} runs cannot be read, the first: {unreadable[0]}" if unreadable else ""
        message = f"{results}: holds no run that was saved as {name}{others}{unread}"
        raise BadInput(message, f"`lab measure TARGET --save {name}` makes one")
    if not runs:
        raise BadInput(f"{results}: no run that was saved as {name} holds a trial", "".join(unreadable[:1]))
    older = max(0, names.count(name) - MOST_RUNS)
    return SavedRuns(name, sorted(runs, key=lambda run: (run.begun, run.path)), older, unreadable)


def _read_transfers(folder: RunFolder) -> Iterator[SavedRun]:
    """The run, if it has transfers. Raises BadInput."""
    trials = [trial for trial in folder.trials() if trial.protocol not in CEILINGS and not trial.anchor]
    try:
        begun = read_time(folder.text("started_at"))
    except ValueError as error:
        raise BadInput(f"{folder.path / 'run.json'}: started_at: {error}") from error
    if trials:
        yield SavedRun(folder.path, folder.run, begun, trials)
