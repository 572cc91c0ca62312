"""Write an executed notebook as one page that contains its figures, fetches nothing, and runs nothing.

Jupyter's own page loads scripts and fonts from elsewhere, which also show the lists to pick from. Here the line of text
beside a list takes its place.
"""

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
SAFE = {"PYTHONSAFEPATH": "1"}  # keeps Python and IPython from importing modules of the current folder
STYLE = Path(__file__).with_name("page.css")


def export(notebook: Path, to: Path, chosen: Mapping[str, str]) -> None:
    """Execute a notebook with ``chosen`` in its environment, and write its page to the file ``to``.

    For the names in ``chosen`` see :mod:`lab.notebook.opened`. Raises LabFailure if a cell fails; then nothing is
    written.
    """
    if not to.parent.is_dir():
        raise BadInput(f"{to.parent}: no such folder", "make it first, or name another file")
    replace(to, page(execute(read(notebook), chosen)).encode())


def read(notebook: Path) -> Any:
    """Read a notebook by Jupyter's library. Raises BadInput for another file."""
    import nbformat

    try:
        return nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, nbformat.ValidationError) as error:
        raise BadInput(f"{notebook}: not a notebook: {one_line(reason_of(error), 200)}") from error


def execute(notebook: Any, chosen: Mapping[str, str]) -> Any:
    """Execute a notebook in an empty folder, without modules and settings of the current one.

    Raises LabFailure with the error of a cell that fails.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from traitlets.config import Config

    # sockets in a private folder, because other accounts of this machine could read TCP on loopback
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
    """The page of an executed notebook."""
    from nbconvert import HTMLExporter

    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET, None)
    notebook.metadata.pop("widgets", None)
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="basic", exclude_input_prompt=True, exclude_output_prompt=True,
        extra_template_basedirs=[],  # not the current folder, which is the default, because templates run code
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
