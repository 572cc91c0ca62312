from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.one_sided_runs import blocks, read, seen, write_measured
from support.paths import ROOT
from support.synthetic_runs import make_trials, write_run

NOTEBOOK = ROOT / "notebooks" / "explore.ipynb"


@pytest.fixture(scope="module")
def nbformat() -> ModuleType:
    """Imported by the worker that needs it, and not by all: that takes a second."""
    return importlib.import_module("nbformat")


@pytest.fixture
def notebook(nbformat: ModuleType) -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


def test_the_notebook_is_kept_without_outputs(nbformat: ModuleType, notebook: Any) -> None:
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


def execute(notebook: Any, working_directory: Path) -> None:
    client = importlib.import_module("nbclient").NotebookClient
    client(notebook, timeout=120, resources={"metadata": {"path": str(working_directory)}}).execute()


def test_the_notebook_runs_on_what_the_client_alone_saw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notebook: Any
) -> None:
    folder = write_measured(tmp_path, blocks([seen(), read()], 3))
    monkeypatch.setenv("LAB_RUN", str(folder.path))
    execute(notebook, ROOT)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert "nas (smb: media)" in "".join(output.get("text", "") for output in outputs)
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]


@pytest.mark.parametrize("working_directory", [ROOT, ROOT / "notebooks"])
def test_the_notebook_runs_from_both_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notebook: Any, working_directory: Path
) -> None:
    folder = write_run(tmp_path, make_trials(2, combinations=[("afp", "cp")]))
    monkeypatch.setenv("LAB_RUN", str(folder.path))
    execute(notebook, working_directory)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    printed = "".join(output.get("text", "") for output in outputs)
    assert len(pictures) == 6
    assert folder.path.name in printed
    assert "local lab" in printed
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]


def test_the_notebook_runs_outside_of_the_repository_on_an_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notebook: Any
) -> None:
    monkeypatch.setenv("LAB_RUN", "example")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # in place of an installation
    execute(notebook, tmp_path)
    (first, *_) = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert first["text"].startswith("example\n")
    assert "a run that comes with the lab" in first["text"]
