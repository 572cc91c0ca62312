"""`lab notebook`: the notebook that comes with the lab, copied to where a person works, and opened on a run."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import open_run, show

SUMMARY = "copy the notebook that comes with the lab, and open it on a run"
EXAMPLES = (
    Example("lab notebook", "the newest run, in Jupyter"),
    Example("lab notebook example --to explore", "a run that comes with the lab, by a copy in the folder explore"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    options.add_run(parser)
    options.add_results(parser)
    text = "put the notebook there (default: the current folder); one that is there is opened as it is"
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Copy the notebook and become jupyter, which ends with an exit code of its own."""
    from importlib.metadata import PackageNotFoundError, version

    from lab.results import examples

    try:
        version("notebook")
    except PackageNotFoundError as error:
        raise BadInput("jupyter is not installed", "`pip install 'file-share-lab[notebook]'`") from error
    folder = open_run(arguments.run, arguments.results)
    notebook = _copy(arguments.to)
    chosen = folder.label if isinstance(folder, examples.Example) else str(folder.path.resolve())
    command = [sys.executable, "-m", "notebook", str(notebook)]
    sys.stdout.flush()
    os.execve(sys.executable, command, os.environ | {"LAB_RUN": chosen})  # noqa: S606 – this Python; a file's name


def _copy(folder: Path) -> Path:
    """Put the notebook into a folder, which is made; never over a file that is there. Its path."""
    from lab.base import shipped

    folder.mkdir(parents=True, exist_ok=True)
    notebook = folder / shipped.NOTEBOOK.name
    try:
        with notebook.open("xb") as file:
            file.write(shipped.NOTEBOOK.read_bytes())
        show(f"{notebook}: a copy, to be changed as you like")
    except FileExistsError:
        show(f"{notebook}: was there already, and is opened as it is")
    return notebook
