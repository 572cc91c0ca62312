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
from lab.cli.replaced import public_copies
from lab.cli.terminal import open_run, show, show_whole

SUMMARY = "open a notebook that comes with the lab on a run, or write it as a page"
EXAMPLES = (
    Example("lab notebook", "the newest run, to be explored; where there is none, what the lab tells of one"),
    Example("lab notebook why-slow demo", "what held each case of the newest run of the sweep demo back"),
    Example("lab notebook compare -2 -1 --to mine", "the newest run and the one before, by a copy in the folder mine"),
    Example("lab notebook mine/compare.ipynb -2 -1", "that copy once more, as it was left"),
    Example("lab notebook explore --export page.html", "one page that fetches nothing, to be given away"),
)
START, EXPLORE, COMPARE = "start", "explore", "compare"
ENDING = ".ipynb"
OF_NO_RUN, OF_EXAMPLES = ("is-it-true",), (START, COMPARE)  # what a notebook is of, where no run is named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    from lab.base import shipped

    names = ", ".join(shipped.notebooks())
    text = (
        f"which notebook: {names} (default: {EXPLORE}, or {START} where there is no run), or a file of yours, "
        f"*{ENDING}; RUN may stand here too"
    )
    parser.add_argument("name", nargs="?", metavar="NOTEBOOK", help=text)
    options.add_run(parser)
    text = f"of {COMPARE}, and of a file: the run that is set against it"
    parser.add_argument("other", nargs="?", metavar="B", help=text)
    options.add_results(parser)
    text = "put the notebook there (default: the current folder), where none may be yet"
    parser.add_argument("--to", type=Path, metavar="DIR", help=text)
    text = "execute it, and write what it shows as one page, which fetches nothing; opens nothing"
    parser.add_argument("--export", type=Path, metavar="FILE", help=text)
    options.add_no_redact(parser)


def run(arguments: argparse.Namespace) -> int:
    """Copy the notebook and become jupyter, which ends with an exit code of its own; or write the page."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        version("notebook")
    except PackageNotFoundError as error:
        raise BadInput("jupyter is not installed", "`pip install 'file-share-lab[notebook]'`") from error
    name, runs = _chosen(arguments)
    chosen = _as_environment(runs, arguments)
    if not arguments.export:
        _become_jupyter(_own(name, arguments) or _copy(name, arguments), chosen)
    return _export(name, chosen, arguments)


def _become_jupyter(notebook: Path, chosen: dict[str, str]) -> None:
    from lab.notebook import jupyter_alone
    from lab.notebook.export import SAFE

    sys.stdout.flush()
    program = str(Path(jupyter_alone.__file__))
    os.execve(PYTHON[0], [*PYTHON, program, str(notebook)], os.environ | chosen | SAFE)  # noqa: S606 – this Python; a file's name


def _chosen(arguments: argparse.Namespace) -> tuple[str, list[str]]:
    """The notebook, and the runs that were named for it. Raises BadInput for more or fewer than it shows."""
    from lab.base import shipped
    from lab.results.run_names import paths_of_runs

    words = [word for word in (arguments.name, arguments.run, arguments.other) if word]
    if not words and not paths_of_runs(arguments.results):
        return START, []
    is_named = words and (words[0] in shipped.notebooks() or words[0].endswith(ENDING))
    name = words.pop(0) if is_named else EXPLORE
    if name.endswith(ENDING):
        return name, words
    if name in OF_NO_RUN and words:
        raise BadInput(f"{name}: shows no run, for it makes up its own", "leave the run out")
    if name == COMPARE and len(words) == 1:
        raise BadInput(
            f"{name}: needs two runs", f"`lab notebook {name} A B`, or none for those that come with the lab"
        )
    if name != COMPARE and len(words) > 1:
        others = ", ".join(shipped.notebooks())
        what = f"{one_line(words[0], 100)}, {one_line(words[1], 100)}: {name} shows one run"
        raise BadInput(what, f"name a notebook, and one run; the notebooks are {others}")
    return name, words or _newest(name, arguments.results)


def _newest(name: str, results: Path) -> list[str]:
    """The newest run if this notebook shows a run, else None."""
    from lab.results.run_names import paths_of_runs

    if name in (*OF_NO_RUN, *OF_EXAMPLES) or not paths_of_runs(results):
        return []
    return [str(open_run(None, results).path)]


def _as_environment(runs: list[str], arguments: argparse.Namespace) -> dict[str, str]:
    """What the notebook finds in its environment. Raises BadInput for a run that cannot be opened."""
    from lab.notebook.names import AS_THEY_ARE, FOLDER, NAMES, OTHER_RUN, RUN

    chosen = {
        variable: _absolute(run, arguments.results) for variable, run in zip((RUN, OTHER_RUN), runs, strict=False)
    }
    names = {NAMES: AS_THEY_ARE} if arguments.no_redact else {}
    return {**chosen, **names, FOLDER: str(Path.cwd())}


def _absolute(name: str, results: Path) -> str:
    """A run, named so that it is found from anywhere: an address and an example as they are."""
    from lab.results import examples
    from lab.results.run_names import is_address

    if is_address(name):
        return name  # it is fetched once, by the notebook
    folder = open_run(name, results)
    if isinstance(folder, examples.Example):
        return folder.label
    return str(Path(name if Path(folder.label) == Path(name) else folder.path).resolve())


def _export(name: str, chosen: dict[str, str], arguments: argparse.Namespace) -> int:
    """Write the page of a notebook: of the one that comes with the lab, or that a file of the user's has."""
    from lab.base import shipped
    from lab.notebook.export import export
    from lab.results.opening import open_run as open_named

    if arguments.to:
        raise BadInput("--to: a page is made without a copy of the notebook", "leave it out")
    export(_own(name, arguments) or shipped.notebooks()[name], arguments.export, chosen)
    if not arguments.no_redact and (names := _names_of_runs(chosen)):
        public_copies([open_named(name, arguments.results) for name in names])  # what is to be said of one was said
    show_whole(str(arguments.export))
    return 0


def _names_of_runs(environment: dict[str, str]) -> list[str]:
    """The runs that a page shows, but for those of an address, which are fetched once, by the notebook."""
    from lab.notebook.names import OTHER_RUN, RUN
    from lab.results.run_names import is_address

    names = (environment.get(variable, "") for variable in (RUN, OTHER_RUN))
    return [name for name in names if name and not is_address(name)]


def _own(name: str, arguments: argparse.Namespace) -> Path | None:
    """The user's own notebook, where its file was named. Raises BadInput for one that lies among results."""
    from lab.hosts.sections import results_around

    if not name.endswith(ENDING):
        return None
    if arguments.to:
        raise BadInput(
            f"--to: {one_line(name, 100)} is opened where it is", "leave it out, or name a notebook of the lab"
        )
    notebook = Path(name)
    if not notebook.is_file():
        raise BadInput(f"{one_line(name, 200)}: no such notebook")
    if folder := results_around(notebook, arguments.results):
        what = f"lies in {folder}, among results, and those may be somebody else's: it is not run"
        raise BadInput(f"{notebook}: {what}", "look at it, and copy it to a folder of yours")
    return notebook


def _copy(name: str, arguments: argparse.Namespace) -> Path:
    """Put a notebook of the lab's into a folder, which is made. Its path. Raises BadInput where one is there."""
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
