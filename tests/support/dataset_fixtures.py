"""Fixtures: two SYNTHETIC runs, a dataset of both, and an engine that reads it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.dataset.engine import Engine, started
from lab.dataset.folder import Dataset
from lab.results.run_folder import RunFolder
from support.datasets import Shape, dataset_of, write_runs


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``results`` and ``dataset``: each test has a copy of its own."""
    folder = tmp_path_factory.mktemp("made")
    runs = write_runs(folder / "results", [Shape(seed=1, lost=0.1), Shape(seed=2, option="smb.signing")])
    dataset_of(folder / "dataset", runs)
    return folder


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> list[RunFolder]:
    copy = shutil.copytree(made / "results", tmp_path / "results")
    return [RunFolder(path) for path in sorted(copy.iterdir())]


@pytest.fixture
def dataset(made: Path, tmp_path: Path, runs: list[RunFolder]) -> Dataset:
    return Dataset(shutil.copytree(made / "dataset", tmp_path / "dataset"))


@pytest.fixture
def another(tmp_path: Path) -> RunFolder:
    """A run that is not in the dataset."""
    [run] = write_runs(tmp_path / "more", [Shape(seed=3, blocks=1)])
    (run.path / "run.json").write_text(json.dumps({**run.run, "id": "run-2"}))
    return RunFolder(run.path)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with started() as engine_of_tests:
        yield engine_of_tests
