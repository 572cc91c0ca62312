"""`lab notebook`: the notebooks that come with the lab, opened on a run in Jupyter, or written as a page."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import open_run, show, show_whole

SUMMARY = "open a notebook that comes with the lab on a run, or write it as a page"
EXAMPLES = (
    Example("lab notebook", "the newest run, to be explored; where there is none, what the lab tells of one"),
    Example("lab notebook why-slow demo", "what held each case of the newest run of the sweep demo back"),
    Example("lab notebook compare -2 -1 --to mine", "the newest run and the one before, by a copy in the folder mine"),
    Example("lab notebook explore --export page.html", "one page that fetches nothing, to be given away"),
)
START, EXPLORE, COMPARE = "start", "explore", "compare"
OF_NO_RUN, OF_EXAMPLES = ("is-it-true",), (START, COMPARE)  # what a notebook is of, where no run is named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    from lab.base import shipped

    names = ", ".join(shipped.notebooks())
    text = f"which notebook: {names} (default: {EXPLORE}, or {START} where there is no run); RUN may stand here too"
    parser.add_argument("name", nargs="?", metavar="NOTEBOOK", help=text)
    options.add_run(parser)
    text = f"of {COMPARE}: the run that is set against it"
    parser.add_argument("other", nargs="?", metavar="B", help=text)
    options.add_results(parser)
    text = "put the notebook there (default: the current folder); one that is there is opened as it is"
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help=text)
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
    environment = os.environ | _as_environment(runs, arguments)
    if not arguments.export:
        notebook = _copy(name, arguments.to)
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, "-m", "notebook", str(notebook)], environment)  # noqa: S606 – this Python; a file's name
    return _export(name, environment, arguments)


def _chosen(arguments: argparse.Namespace) -> tuple[str, list[str]]:
    """The notebook, and the runs that were named for it. Raises BadInput for more or fewer than it shows."""
    from lab.base import shipped
    from lab.results.newest_run import paths_of_runs

    words = [word for word in (arguments.name, arguments.run, arguments.other) if word]
    if not words and not paths_of_runs(arguments.results):
        return START, []
    name = words.pop(0) if words and words[0] in shipped.notebooks() else EXPLORE
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
    """The newest run, for a notebook that is of one; nothing where it, or what is there, is of none."""
    from lab.results.newest_run import paths_of_runs

    if name in (*OF_NO_RUN, *OF_EXAMPLES) or not paths_of_runs(results):
        return []
    return [str(open_run(None, results).path)]


def _as_environment(runs: list[str], arguments: argparse.Namespace) -> dict[str, str]:
    """What the notebook finds in its environment. Raises BadInput for a run that cannot be opened."""
    from lab.notebook.names import AS_THEY_ARE, NAMES, OTHER_RUN, RUN

    chosen = {
        variable: _absolute(run, arguments.results) for variable, run in zip((RUN, OTHER_RUN), runs, strict=False)
    }
    return chosen | ({NAMES: AS_THEY_ARE} if arguments.no_redact else {})


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


def _export(name: str, environment: dict[str, str], arguments: argparse.Namespace) -> int:
    """Write the page of a notebook: of the copy that is there, else of the one that comes with the lab."""
    from lab.base import shipped
    from lab.notebook.export import export

    own = arguments.to / f"{name}.ipynb"
    os.environ.update(environment)
    export(own if own.is_file() else shipped.notebooks()[name], arguments.export, Path.cwd())
    show_whole(str(arguments.export))
    return 0


def _copy(name: str, folder: Path) -> Path:
    """Put the notebook into a folder, which is made; never over a file that is there. Its path."""
    from lab.base import shipped

    folder.mkdir(parents=True, exist_ok=True)
    source = shipped.notebooks()[name]
    notebook = folder / source.name
    try:
        with notebook.open("xb") as file:
            file.write(source.read_bytes())
        show(f"{notebook}: a copy, to be changed as you like")
    except FileExistsError:
        show(f"{notebook}: was there already, and is opened as it is")
    return notebook
