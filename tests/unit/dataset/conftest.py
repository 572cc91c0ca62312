"""Two SYNTHETIC runs, and a dataset of both."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.datasets import Shape, write_runs

from lab.dataset.add import add
from lab.dataset.folder import Dataset
from lab.results.run_folder import RunFolder


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    return write_runs(tmp_path / "results", [Shape(seed=1, lost=0.1), Shape(seed=2, option="smb.signing")])


@pytest.fixture
def dataset(tmp_path: Path, runs: list[RunFolder]) -> Dataset:
    made = Dataset.at(tmp_path / "dataset")
    with made.claimed():
        for run in runs:
            add(made, run)
    return made
