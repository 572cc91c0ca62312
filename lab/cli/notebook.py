"""`lab notebook`: the notebooks that come with the lab, opened on a run in Jupyter, or written as a page."""

import argparse
import os
import shlex
import sys
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.own_python import PYTHON
from lab.base.untrusted import one_line
from lab.cli import options
from lab.cli.command import Example
from lab.cli.redact import public_copies
from lab.cli.terminal import open_run, show, show_whole

SUMMARY = "open a notebook that comes with the lab on a run, or write it as a page"
EXAMPLES = (
    Example("lab notebook", "explore the newest run; without a run, a notebook on one that comes with the lab"),
    Example("lab notebook why-slow demo", "what held each case of the newest run of the sweep demo back"),
    Example("lab notebook compare -2 -1 --to mine", "the newest run and the one before, by a copy in the folder mine"),
    Example("lab notebook mine/compare.ipynb -2 -1", "that copy once more, as it was left"),
    Example("lab notebook explore --export page.html", "one page that fetches nothing, to be given away"),
)
START, EXPLORE, COMPARE = "start", "explore", "compare"
ENDING = ".ipynb"
WITHOUT_RUN, ON_EXAMPLES = ("is-it-true",), (START, COMPARE)  # what a notebook shows if no run is named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from lab.base import shipped

    names = ", ".join(shipped.notebooks())
    text = f"which notebook: {names} (default: {EXPLORE}, or {START} without a run), or a file of yours, *{ENDING}; "
    text += "RUN may stand here too"
    parser.add_argument("name", nargs="?", metavar="NOTEBOOK", help=text)
    options.add_run(parser)
    parser.add_argument("other", nargs="?", metavar="B", help=f"for {COMPARE}, and for a file: the run to compare with")
    options.add_results(parser)
    text = "put the notebook into this folder (default: the current one), which must not have it yet"
    parser.add_argument("--to", type=Path, metavar="DIR", help=text)
    text = "execute it, and write what it shows as one page, which fetches nothing; opens nothing"
    parser.add_argument("--export", type=Path, metavar="FILE", help=text)
    options.add_no_redact(parser)


def run(arguments: argparse.Namespace) -> int:
    """Copy the notebook and become Jupyter, which has its own exit codes; or write the page."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        version("notebook")
    except PackageNotFoundError as error:
        raise BadInput("jupyter is not installed", "`pip install 'file-share-lab[notebook]'`") from error
    from lab.notebook import jupyter_alone
    from lab.notebook.export import SAFE

    name, runs = _choose(arguments)
    chosen = _as_environment(runs, arguments)
    if not arguments.export:
        notebook = _find_own(name, arguments) or _copy(name, arguments)
        sys.stdout.flush()
        command = [*PYTHON, jupyter_alone.__file__, str(notebook)]
        os.execve(PYTHON[0], command, os.environ | chosen | SAFE)  # noqa: S606 – this Python; a file's name
    return _export(name, chosen, arguments)


def _choose(arguments: argparse.Namespace) -> tuple[str, list[str]]:
    """The notebook and its runs. Raises BadInput for more or fewer runs than the notebook shows."""
    from lab.base import shipped
    from lab.results.run_names import paths_of_runs

    words = [word for word in (arguments.name, arguments.run, arguments.other) if word]
    has_runs = bool(paths_of_runs(arguments.results))
    if not words and not has_runs:
        return START, []
    is_named = words and (words[0] in shipped.notebooks() or words[0].endswith(ENDING))
    name = words.pop(0) if is_named else EXPLORE
    if name.endswith(ENDING):
        return name, words
    if name in WITHOUT_RUN and words:
        raise BadInput(f"{name}: shows no run, because it makes up its own", "leave the run out")
    if name == COMPARE and len(words) == 1:
        raise BadInput(f"{name}: needs two runs", f"`lab notebook {name} A B`, or without runs for two examples")
    if name != COMPARE and len(words) > 1:
        message = f"{one_line(words[0], 100)}, {one_line(words[1], 100)}: {name} shows one run"
        raise BadInput(message, f"name a notebook, and one run; the notebooks are {', '.join(shipped.notebooks())}")
    if not words and has_runs and name not in (*WITHOUT_RUN, *ON_EXAMPLES):
        words = [str(open_run(None, arguments.results).path)]
    return name, words


def _as_environment(runs: list[str], arguments: argparse.Namespace) -> dict[str, str]:
    """The environment variables for the notebook. Raises BadInput for a run that cannot be opened."""
    from lab.notebook.opened import AS_THEY_ARE, FOLDER, NAMES, OTHER_RUN, RUN

    paths = (_absolute(run, arguments.results) for run in runs)
    names = {NAMES: AS_THEY_ARE} if arguments.no_redact else {}
    return {**dict(zip((RUN, OTHER_RUN), paths, strict=False)), **names, FOLDER: str(Path.cwd())}


def _absolute(name: str, results: Path) -> str:
    """The path of a run from the root; an address and the name of an example stay."""
    from lab.results import examples
    from lab.results.run_names import is_address

    if is_address(name):
        return name  # the notebook fetches it
    folder = open_run(name, results)
    if isinstance(folder, examples.Example):
        return folder.label
    return str(Path(name if Path(folder.label) == Path(name) else folder.path).resolve())


def _export(name: str, chosen: dict[str, str], arguments: argparse.Namespace) -> int:
    """Write the page of a notebook, and say which names were replaced in runs that are not fetched by the notebook."""
    from lab.base import shipped
    from lab.notebook.export import export
    from lab.notebook.opened import OTHER_RUN, RUN
    from lab.results.opening import open_run as open_named
    from lab.results.run_names import is_address

    if arguments.to:
        raise BadInput("--to: a page is made without a copy of the notebook", "leave it out")
    export(_find_own(name, arguments) or shipped.notebooks()[name], arguments.export, chosen)
    runs = [chosen[variable] for variable in (RUN, OTHER_RUN) if variable in chosen]
    if not arguments.no_redact and (names := [run for run in runs if not is_address(run)]):
        public_copies([open_named(name, arguments.results) for name in names])  # without notes, which were printed
    show_whole(str(arguments.export))
    return 0


def _find_own(name: str, arguments: argparse.Namespace) -> Path | None:
    """The user's own notebook, if ``name`` is a file. Raises BadInput for a notebook among results."""
    from lab.hosts.sections import results_around

    if not name.endswith(ENDING):
        return None
    if arguments.to:
        message = f"--to: {one_line(name, 100)} is opened where it is"
        raise BadInput(message, "leave it out, or name a notebook of the lab")
    notebook = Path(name)
    if not notebook.is_file():
        raise BadInput(f"{one_line(name, 200)}: no such notebook")
    if folder := results_around(notebook, arguments.results):
        reason = f"lies in {folder}, among results, and those may be somebody else's: it is not run"
        raise BadInput(f"{notebook}: {reason}", "look at it, and copy it to a folder of yours")
    return notebook


def _copy(name: str, arguments: argparse.Namespace) -> Path:
    """Copy a notebook of the lab into a folder; the copy's path. Raises BadInput if the folder has it."""
    from lab.base import shipped
    from lab.hosts.sections import results_around

    source = shipped.notebooks()[name]
    notebook: Path = (arguments.to or Path()) / source.name
    notebook.parent.mkdir(parents=True, exist_ok=True)
    if folder := results_around(notebook.parent, arguments.results):
        raise BadInput(f"{folder}: holds results, and no notebook is put there", "`--to DIR` names another folder")
    try:
        with notebook.open("xb") as file:
            file.write(source.read_bytes())
    except FileExistsError as error:
        remedy = f"`lab notebook {shlex.quote(str(notebook))}` opens it; `--to DIR` names another folder for a new copy"
        raise BadInput(f"{notebook}: is there already, and is not opened unasked", remedy) from error
    show(f"{notebook}: a copy, to be changed as you like")
    return notebook
