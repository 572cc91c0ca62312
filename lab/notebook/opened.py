"""The run that a notebook shows: the argument of `lab notebook`, the newest run here, or an example."""

import os
from collections.abc import Sequence
from pathlib import Path

from lab import stats
from lab.base import shipped
from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.notebook.table import Text
from lab.report.analysis import Analysis
from lab.report.prose import about_hosts, warnings
from lab.results import run_folder
from lab.results.json_object import RunJson
from lab.results.opening import RESULTS, open_run
from lab.results.public import Public, public_copies
from lab.results.run_folder import RunFolder
from lab.results.run_names import newest, paths_of_runs

# Environment variables by which `lab notebook` passes choices to a notebook
RUN, OTHER_RUN = "LAB_RUN", "LAB_OTHER_RUN"  # the run, and the run that it is compared with
NAMES, AS_THEY_ARE = "LAB_NAMES", "shown"  # whether names of hosts, accounts and shares are shown
FOLDER = "LAB_FOLDER"  # where `lab notebook` was called, because cells run in an empty folder
EXAMPLE, OTHER_EXAMPLE = "example", "example-delay"
MOST_LISTED = 50  # newest runs in a list to pick from


class Opened(Analysis):
    """A run and its analysis.

    ``folder`` is a copy without names of hosts, accounts and shares, unless the environment has LAB_NAMES=shown.
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
        """The name of the run, the origin of its numbers, and warnings."""
        lines = [self.name, *stats.provenance(self.trials), about_hosts(self.run), *warnings(self.run)]
        return "\n".join(filter(None, lines))

    def _repr_html_(self) -> str:
        """The same text with its lines wrapped."""
        return Text(repr(self))._repr_html_()


def open_chosen(name: str | Path | None = None, default: str | None = None) -> Opened:
    """Open a run by its name, else by LAB_RUN, else ``default``, else the newest run, else the example.

    Paths and the folder of results are searched from :func:`here` upwards. Raises BadInput.
    """
    if chosen := name or os.environ.get(RUN) or default:
        return Opened(_open(str(chosen)))
    results = find_results()
    return Opened(newest(results) if paths_of_runs(results) else open_run(EXAMPLE))


def open_two(a: str | Path | None = None, b: str | Path | None = None) -> tuple[Opened, Opened]:
    """Open two runs and replace their names alike: ``a`` and ``b``, else LAB_RUN and LAB_OTHER_RUN, else the examples.

    Raises BadInput if only one is given.
    """
    first, second = str(a or os.environ.get(RUN, "")), str(b or os.environ.get(OTHER_RUN, ""))
    if bool(first) != bool(second):
        raise BadInput(
            f"{first or second}: a comparison needs two runs",
            "`lab notebook compare A B`, or give both in the notebook; without any, those that come with the lab",
        )
    runs = [_open(name) for name in ((first, second) if first else (EXAMPLE, OTHER_EXAMPLE))]
    first_opened, second_opened = map(Opened, runs, runs if _are_names_shown() else public_copies(runs))
    return first_opened, second_opened


def _are_names_shown() -> bool:
    return os.environ.get(NAMES) == AS_THEY_ARE


def find_results() -> Path:
    """The nearest folder of results with a run, here or above."""
    places = [folder / RESULTS for folder in _here_and_above()]
    return next((place for place in places if paths_of_runs(place)), RESULTS)


def runs_to_pick(name: str | Path | None = None) -> dict[str, str]:
    """The runs for a list, by their names: ``name`` or LAB_RUN, the newest runs, and the examples."""
    first = str(name or os.environ.get(RUN, ""))
    runs = {path.name: str(path) for path in paths_of_runs(find_results())[:MOST_LISTED]}
    named = {one_line(Path(first).name, 100): first} if first else {}
    return {**named, **runs, EXAMPLE: EXAMPLE, OTHER_EXAMPLE: OTHER_EXAMPLE}


def _open(name: str) -> RunFolder:
    """Open a run; a relative path may start in a folder above."""
    for folder in _here_and_above():
        if name not in shipped.examples() and not Path(name).is_absolute() and os.path.lexists(folder / name):
            return open_run(folder / name)
    return open_run(name, find_results())


def here() -> Path:
    """The folder in which `lab notebook` was called, or the current one if the notebook was opened by hand."""
    return Path(os.environ.get(FOLDER) or Path.cwd())


def _here_and_above() -> Sequence[Path]:
    return [here(), *here().parents]
