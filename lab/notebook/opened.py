"""The run that a notebook shows: the one that `lab notebook` was given, the newest of here, or one that comes with the
lab.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lab import stats
from lab.base import shipped
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.notebook.names import AS_THEY_ARE, FOLDER, NAMES, OTHER_RUN, RUN
from lab.notebook.table import Text
from lab.report.analysis import Analysis
from lab.report.prose import about_hosts, warnings
from lab.results import run_folder
from lab.results.opening import RESULTS, open_run
from lab.results.public import Public, public_copies
from lab.results.run_folder import RunFolder
from lab.results.run_names import newest, paths_of_runs
from lab.results.trial import RunJson

EXAMPLE, OTHER_EXAMPLE = "example", "example-delay"
MOST_LISTED = 50  # runs in a list to pick from: the newest


class Opened(Analysis):
    """A run, and what is computed of it. ``folder`` is a copy without names of hosts, accounts and shares, unless the
    environment has LAB_NAMES=shown.
    """

    def __init__(self, run: RunFolder, shown: RunFolder | None = None):
        self.folder = shown or (run if _are_names_shown() else Public(run))
        label = self.folder.label
        self.name = one_line(Path(label).name if label == str(self.folder.path) else label, 200)
        super().__init__(run_folder.load(self.folder.path))

    @property
    def run(self) -> RunJson:
        """The content of run.json."""
        return self.folder.run

    def __repr__(self) -> str:
        """Its name, where its numbers come from, and what has to be known of them."""
        lines = [self.name, *stats.provenance(self.trials), about_hosts(self.run), *warnings(self.run)]
        return "\n".join(filter(None, lines))

    def _repr_html_(self) -> str:
        """The same with its lines wrapped."""
        return Text(repr(self))._repr_html_()


def open_chosen(name: str | Path | None = None, default: str | None = None) -> Opened:
    """The run of this name, as :func:`lab.results.opening.open_run` takes it; without a name the one of LAB_RUN, else
    ``default``, else the newest one, else the example. Raises BadInput.

    Paths and the folder of results are looked for from :func:`here` upwards.
    """
    if chosen := name or os.environ.get(RUN) or default:
        return Opened(_open(str(chosen)))
    results = find_results()
    return Opened(newest(results) if paths_of_runs(results) else open_run(EXAMPLE))


def open_two(a: str | Path | None = None, b: str | Path | None = None) -> tuple[Opened, Opened]:
    """Two runs whose names are replaced alike: those given, those of LAB_RUN and LAB_OTHER_RUN, or the two examples.

    Raises BadInput where only one is given.
    """
    first, second = str(a or os.environ.get(RUN, "")), str(b or os.environ.get(OTHER_RUN, ""))
    if bool(first) != bool(second):
        raise BadInput(
            f"{first or second}: a comparison needs two runs",
            "`lab notebook compare A B`, or give both in the notebook; without any, those that come with the lab",
        )
    runs = [_open(name) for name in ((first, second) if first else (EXAMPLE, OTHER_EXAMPLE))]
    one, other = map(Opened, runs, runs if _are_names_shown() else public_copies(runs))
    return one, other


def _are_names_shown() -> bool:
    return os.environ.get(NAMES) == AS_THEY_ARE


def find_results() -> Path:
    """The nearest folder of results that holds a run: a notebook may lie below the folder of its lab."""
    places = [folder / RESULTS for folder in _here_and_above()]
    return next((place for place in places if paths_of_runs(place)), RESULTS)


def runs_to_pick(name: str | Path | None = None) -> dict[str, str]:
    """What can be opened here, by the name that a list shows: ``name`` or the run of LAB_RUN first, then the newest
    runs, and the examples.
    """
    first = str(name or os.environ.get(RUN, ""))
    runs = {path.name: str(path) for path in paths_of_runs(find_results())[:MOST_LISTED]}
    named = {one_line(Path(first).name, 100): first} if first else {}
    return {**named, **runs, EXAMPLE: EXAMPLE, OTHER_EXAMPLE: OTHER_EXAMPLE}


def _open(name: str) -> RunFolder:
    """A run; a relative path may be one from a folder above."""
    for folder in _here_and_above():
        if name not in shipped.examples() and not Path(name).is_absolute() and os.path.lexists(folder / name):
            return open_run(folder / name)
    return open_run(name, find_results())


def here() -> Path:
    """The folder in which `lab notebook` was called; of a notebook that was opened by hand, the current one."""
    return Path(os.environ.get(FOLDER) or Path.cwd())


def _here_and_above() -> Sequence[Path]:
    return [here(), *here().parents]
