from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from support.paths import ROOT
from support.synthetic_runs import make_trials, write_run

NOTEBOOK = ROOT / "notebooks" / "explore.ipynb"


def notebook() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]


def test_the_notebook_is_kept_without_outputs() -> None:
    content = notebook()
    nbformat.validate(content)
    code = [cell for cell in content.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


@pytest.mark.parametrize("working_directory", [ROOT, ROOT / "notebooks"])
def test_the_notebook_runs_from_both_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, working_directory: Path
) -> None:
    folder = write_run(tmp_path, make_trials(2, combinations=[("afp", "cp"), ("afp", "rsync")]))
    monkeypatch.setenv("LAB_RUN", str(folder.path))
    content = notebook()
    NotebookClient(content, timeout=120, resources={"metadata": {"path": str(working_directory)}}).execute()
    outputs = [output for cell in content.cells if cell.cell_type == "code" for output in cell.outputs]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    printed = "".join(output.get("text", "") for output in outputs)
    assert len(pictures) == 6
    assert folder.path.name in printed
    assert "local lab" in printed
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
