"""A notebook as one page that fetches nothing: executed, with its figures inside, and without anything that runs.

Jupyter's own page loads scripts and fonts from elsewhere, and shows lists to pick from by one of them. Here a list is
the line of text that its picker made beside it.
"""

from __future__ import annotations

import html
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.base.durable import replace
from lab.base.errors import BadInput, LabFailure
from lab.base.os_errors import reason_of
from lab.base.untrusted import one_line
from lab.notebook.picker import WIDGET

CELL_S = 600  # a cell of a notebook that comes with the lab takes seconds
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
SAFE = {"PYTHONSAFEPATH": "1"}  # Python, and IPython by it, looks for no module in the folder that it runs in
STYLE = Path(__file__).with_name("page.css")


def export(notebook: Path, to: Path, chosen: Mapping[str, str]) -> None:
    """Execute a notebook, and write what it shows into the file ``to``, which fetches nothing.

    ``chosen`` is what it finds in its environment (:mod:`lab.notebook.names`).

    Raises LabFailure where a cell fails; nothing is written then.
    """
    if not to.parent.is_dir():
        raise BadInput(f"{to.parent}: no such folder", "make it first, or name another file")
    replace(to, page(execute(read(notebook), chosen)).encode())


def read(notebook: Path) -> Any:
    """The notebook, as Jupyter's library has it. Raises BadInput for a file that is none."""
    import nbformat

    try:
        return nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, nbformat.ValidationError) as error:
        raise BadInput(f"{notebook}: not a notebook: {one_line(reason_of(error), 200)}") from error


def execute(notebook: Any, chosen: Mapping[str, str]) -> Any:
    """The notebook with its outputs. Raises LabFailure for a cell that fails, with what it said.

    It runs in an empty folder: neither modules nor settings of the current one have a say.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from traitlets.config import Config

    # sockets in a folder of this account's alone: by TCP, other accounts of this machine could read along
    with tempfile.TemporaryDirectory(prefix="lab-kernel-") as place:
        Path(empty := f"{place}/empty").mkdir()
        config = Config({"KernelManager": {"transport": "ipc", "ip": f"{place}/kernel"}})
        client = NotebookClient(notebook, timeout=CELL_S, kernel_name="python3", config=config)
        try:
            return client.execute(cwd=empty, env={**os.environ, **chosen, **SAFE})
        except CellExecutionError as error:
            raise LabFailure(f"the notebook stopped: {one_line(error.evalue, 500) or error.ename}") from error
        except (CellTimeoutError, DeadKernelError) as error:
            raise LabFailure(f"the notebook stopped: {one_line(str(error), 200)}") from error


def page(notebook: Any) -> str:
    """The page of a notebook that has been executed."""
    from nbconvert import HTMLExporter

    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET, None)
    notebook.metadata.pop("widgets", None)
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="basic", exclude_input_prompt=True, exclude_output_prompt=True,
        extra_template_basedirs=[],  # by default the current folder, and templates run code
    )  # fmt: skip
    body, _ = exporter.from_notebook_node(notebook)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title_of(notebook))}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head>\n<body><main>\n{body}\n</main></body></html>\n"
    )


def title_of(notebook: Any) -> str:
    """The first heading of a notebook."""
    lines = (line for cell in notebook.cells if cell.cell_type == "markdown" for line in cell.source.splitlines())
    return next((line.lstrip("# ") for line in lines if line.startswith("# ")), "A notebook")
